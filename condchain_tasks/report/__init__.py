"""From what lmms-eval writes to what people read: runs, tables, submissions."""
