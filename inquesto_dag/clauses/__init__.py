"""The protocol's clauses as data, and the tests that hold them.

They lie beside the code and not in `data/protocols/VERSION/`: they decide no number, so rewording one must
neither change a version's digest nor run a stage again; and no stage may depend on which tests there are.
"""
