"""The records of nodes as NumPy's types, taken from the structs so that both agree."""

import numpy as np

cdef GrownNode grown_node
cdef Node node

GROWN_NODE_DTYPE = np.asarray(<GrownNode[:1]> &grown_node).dtype
NODE_DTYPE = np.asarray(<Node[:1]> &node).dtype
