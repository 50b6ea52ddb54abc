"""Why a test may be skipped: what is missing can be installed, which CI asks for; a platform or a right cannot."""

NOT_HERE = "not here: "  # how a reason begins that is about the platform or the user's rights, not about a missing part
