"""Pages as a reader sees them."""

from __future__ import annotations

import pytest

from nodes.market_research.page import read_page


@pytest.mark.parametrize(
    ("source", "title", "text"),
    [
        ("<html><title>A  b</title><body><h1>A b</h1><p>One <b>two</b>.</p></body>", "A b", "A b\nOne two."),
        ("<html><script>x = 1</script><style>p {}</style><nav>All</nav><p>Seen</p><footer>f</footer>", "", "Seen"),
        ("<html><table><tr><td>Plan</td><td>1.45 EUR</td></tr></table>", "", "Plan 1.45 EUR"),
        ("<html><nav><footer>never closed</nav><p>Seen &amp; read</p>", "", "Seen & read"),
        ("# Title\n\nOne\ntwo.\n\nThree.\n", "Title", "One two.\nThree."),
        ("", "", ""),
    ],
)
def test_a_page_is_its_title_and_its_blocks(source: str, title: str, text: str) -> None:
    """HTML without what nobody reads, or Markdown."""
    assert read_page(source) == (title, text)
