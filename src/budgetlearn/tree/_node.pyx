"""The records of nodes as NumPy's types, taken from the structs so that both agree."""

import numpy as np

cdef GrownNode grown_node
cdef Node node

cdef GrownNode[:] grown_nodes = <GrownNode[:1]> &grown_node
cdef Node[:] nodes = <Node[:1]> &node

GROWN_NODE_DTYPE = np.asarray(grown_nodes).dtype
NODE_DTYPE = np.asarray(nodes).dtype
