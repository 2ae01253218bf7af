"""How Sphinx builds the documentation: `make docs-html`, without a network."""

from importlib.metadata import version as version_of

project = "budgetlearn"
author = "the budgetlearn developers"
release = version_of("budgetlearn")

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
]
html_theme = "furo"
html_title = f"budgetlearn {release}"
html_show_sphinx = False
exclude_patterns = ["_build", "examples"]

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
# Methods of our own bases are on the page of each class, those of scikit-learn's are not.
autodoc_default_options = {
    "members": True,
    "inherited-members": "BaseEstimator,ClassifierMixin,RegressorMixin,TransformerMixin,Pipeline",
    "exclude-members": "get_metadata_routing,set_output,set_fit_request,set_predict_request,"
    "set_predict_proba_request,set_score_request,set_transform_request",
}
templates_path = ["_templates"]
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"/plot_",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "write_computation_times": False,
}
suppress_warnings = ["config.cache"]  # the gallery's own objects
