"""Scripts of folders that are no packages."""

from importlib.util import module_from_spec, spec_from_file_location


def module_at(path):
    """Return the script at a path as a module."""
    spec = spec_from_file_location(path.stem, path)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
