"""Word lists: what counts as the same wording, and what as an opposite.

Small on purpose. A word missing from a list of sameness costs a merge, never a fact; opposites that are missing here
are still kept from merging, because texts whose content words differ never merge unasked.
"""
