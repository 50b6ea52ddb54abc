"""Plain functions that run interpreted and compiled alike: the k best arms, and draws."""
