"""The figures, tables and claims of the paper, each as a part of the report."""
