"""Charts in other people's formats: SCXML and XState v5 JSON, read and written without loss or not at all."""
