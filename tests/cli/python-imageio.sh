# Of the package for Python: imageio, which opens containers by the plugin of Pillow.
. "$ROOT/tests/cli_helpers.sh"
. "$ROOT/tests/python_helpers.sh"
python_needs imageio.v3 # Debian 12 has imageio 2.4, which has its own list of the formats of Pillow
python_tests test_imageio 1
