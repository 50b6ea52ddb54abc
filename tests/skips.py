"""Reasons to skip a test: a missing dependency, which CI must install; or a platform or permission."""

NOT_HERE = "not here: "  # how a reason begins that is about the platform or the user's rights, not about a missing part
