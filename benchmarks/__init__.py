"""Measurements that people run by hand; nothing here is imported by the package."""
