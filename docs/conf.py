"""How Sphinx makes the site: `make docs` runs it on the copy of the pages that site/build.py prepares."""

import inspect
from importlib.metadata import version as installed

project = "ksparse"
author = "The ksparse developers"
release = version = installed("ksparse")
copyright = "The ksparse developers; MIT or Apache 2.0"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
]
exclude_patterns = ["site", "requirements.txt", "gallery/*.py"]
nitpicky = False

myst_heading_anchors = 4

# In the docstrings, single back quotes are code.
default_role = "code"
autosummary_generate = True
autodoc_typehints = "none"
autodoc_default_options = {"members": True, "inherited-members": True}
napoleon_numpy_docstring = True
napoleon_google_docstring = False
napoleon_use_ivar = True
templates_path = ["site/templates"]

html_theme = "furo"
html_title = f"ksparse {release}"
html_static_path = ["site/static"]
html_css_files = ["own.css"]
html_copy_source = False
html_show_sphinx = False

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True


def _inherited(app, what, name, obj, skip, options):
    """What comes from scikit-learn or from dict is documented there."""
    function = getattr(obj, "fget", obj)
    module = getattr(function, "__module__", None) or ""
    return True if not module.startswith("ksparse") or name.startswith("set_") else skip


def _signature(app, what, name, obj, options, signature, returns):
    """The parameters of a class are those of its __init__, without annotations."""
    if what != "class":
        return None
    try:
        taken = inspect.signature(obj)
    except ValueError:  # a kind of dict has none
        return None
    bare = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in taken.parameters.values()]
    return str(taken.replace(parameters=bare, return_annotation=inspect.Signature.empty)), ""


def setup(app):
    app.connect("autodoc-process-signature", _signature)
    app.connect("autodoc-skip-member", _inherited)
