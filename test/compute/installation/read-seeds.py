"""Lets one release of cloud-init read seeds. Argument: the directory that holds its package "cloudinit".

stdin: {"networks": {name: network-config}, "userData": {name: cloud-config}}
stdout: {"networks": {name: {consumer: {path: text} or {"error": words}}}, "root": {name: what becomes of root},
         "modules": {name: those that run, by stage, on a system that runs some of its own},
         "schema": {name: words}, "networkSchema": {name: words}}, with words only where something is refused.
"""

import contextlib
import io
import json
import logging
import os
import sys
import tempfile
import warnings

warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)
release = sys.argv[1]
sys.path.insert(0, release)
os.chdir(release)

from cloudinit import distros, ssh_util, util  # noqa: E402
from cloudinit.cmd.devel import net_convert  # noqa: E402
from cloudinit.config import schema  # noqa: E402

# A renderer and a distribution that uses it.
CONSUMERS = {
    "eni debian": ("eni", "debian"),
    "eni alpine": ("eni", "alpine"),
    "sysconfig rhel": ("sysconfig", "rhel"),
    "sysconfig opensuse": ("sysconfig", "opensuse"),
    "networkd arch": ("networkd", "arch"),
    "network-manager fedora": ("network-manager", "fedora"),
    "netplan ubuntu": ("netplan", "ubuntu"),
}


def rendered(config, renderer, distribution):
    """The files by path; None where the release has no such renderer or distribution."""
    with tempfile.TemporaryDirectory() as work:
        source = os.path.join(work, "network-config")
        with open(source, "w") as file:
            json.dump(config, file)
        target = os.path.join(work, "out")
        try:
            with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
                flags = ["-p", source, "-k", "yaml", "-d", target, "-O", renderer, "-D", distribution]
                net_convert.handle_args("net-convert", net_convert.get_parser().parse_args(flags))
        except SystemExit:
            return None
        except Exception as error:
            return {"error": "%s: %s" % (type(error).__name__, error)}
        files = {}
        for folder, _, names in os.walk(target):
            for path in (os.path.join(folder, name) for name in names):
                with open(path) as file:
                    files["/" + os.path.relpath(path, target)] = file.read()
        return files


def refused(config, **kind):
    try:
        schema.validate_cloudconfig_schema(config, schema.get_schema(**kind), strict=True)
    except Exception as error:
        return "%s: %s" % (type(error).__name__, error)
    return None


def root_after(config):
    """What the release does to a root that exists, as its users module calls it; nothing of this host is touched."""
    done = {"password": None, "locked": None, "keys": []}
    distro = distros.fetch("debian")("debian", {}, None)
    distro.add_user = lambda *_, **__: False
    distro.set_passwd = lambda _, password, hashed=False: done.update(password=password if hashed else "not hashed")
    distro.lock_passwd = lambda _: done.update(locked=True)
    distro.unlock_passwd = lambda _: done.update(locked=False)
    distro._shadow_file_has_empty_user_password = lambda _: False
    ssh_util.setup_user_keys = lambda keys, _, **__: done.update(keys=sorted(keys))
    runs = "users-groups" in config.get("cloud_init_modules", ["users-groups"])
    for user in config.get("users", []) if runs else []:
        distro.create_user(**user)
    return done


STAGES = ["cloud_init_modules", "cloud_config_modules", "cloud_final_modules"]


def modules_with(config):
    """The lists of modules after the merge with those of the system, the user-data first as cloud-init has it."""
    merged = util.mergemanydict([config, {stage: ["one", "two"] for stage in STAGES}])
    return [merged[stage] for stage in STAGES]


def network_kind(config):
    """Releases since 24.1 have a schema of the network too."""
    types = getattr(schema, "SchemaType", None)
    return types and getattr(types, "NETWORK_CONFIG_V%d" % config["version"], None)


given = json.load(sys.stdin)
found = {"networks": {}, "root": {}, "modules": {}, "schema": {}, "networkSchema": {}}
for name, config in given["networks"].items():
    by_consumer = {consumer: rendered(config, *of) for consumer, of in CONSUMERS.items()}
    found["networks"][name] = {consumer: files for consumer, files in by_consumer.items() if files is not None}
    kind = network_kind(config)
    words = kind and refused(config, schema_type=kind)
    if words:
        found["networkSchema"][name] = words
for name, config in given["userData"].items():
    found["root"][name] = root_after(config)
    found["modules"][name] = modules_with(config)
    words = refused(config)
    if words:
        found["schema"][name] = words
json.dump(found, sys.stdout)
