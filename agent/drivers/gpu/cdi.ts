// The file by which a container engine gives a card to a container (Container Device Interface). It is made of what
// nvidia-ctk writes for this host, with less in it: single cards alone, the devices that programs need to compute,
// nothing that is a socket of the host. A card with a problem is left out, so that nothing starts with it.
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Not NVIDIA's own kind: its toolkit may keep a file of that beside this one. */
export const CDI_KIND = 'berth.node/gpu'
/** Engines read a directory of such files, `.json` and `.yaml`. */
export const CDI_DIR = '/etc/cdi'
const FILE = 'berth-gpu.json'
/** Podman 4.3 reads this version; what is used here needs no newer one. */
const VERSION = '0.5.0'
/** Without it a device has mode 000 in a container with its own user ids; 0666 in octal. */
const DEVICE_MODE = 0o666

/** The name by which an engine finds a card. */
export const cdiName = (uuid: string) => `${CDI_KIND}=${uuid}`

type DeviceNode = { path: string; hostPath?: string; fileMode?: number; permissions?: string }
type Mount = { hostPath: string; containerPath: string; options?: string[] }
type Hook = { hookName: string; path: string; args?: string[]; env?: string[] }
export type Edits = { env?: string[]; deviceNodes?: DeviceNode[]; mounts?: Mount[]; hooks?: Hook[] }
export type CdiSpec = {
  cdiVersion: string
  kind: string
  devices: { name: string; containerEdits: Edits }[]
  containerEdits?: Edits
}

const CARD_NODE = /^\/dev\/nvidia\d+$/
const COMMON_NODES: readonly string[] = ['/dev/nvidiactl', '/dev/nvidia-uvm', '/dev/nvidia-uvm-tools']
const HOOK_PROGRAM = /^\/(?:usr\/(?:local\/)?bin|opt\/[\w./-]+)\/nvidia-(?:cdi-hook|ctk)$/
/** The tasks of hooks that concern libraries of the driver, and the one that keeps a driver from making devices. */
const HOOK_TASKS: readonly string[] = [
  'create-symlinks',
  'update-ldcache',
  'enable-cuda-compat',
  'disable-device-node-modification',
]
/** Sockets of the host's own services lie there: of persistence, fabric manager and MPS. */
const OF_SERVICES = /^\/(?:var\/)?(?:run|tmp)\//
const MOUNT_OPTIONS: readonly string[] = ['ro', 'nosuid', 'nodev']

/** Our file from nvidia-ctk's output, with these cards alone. */
export function ownSpec(generated: CdiSpec, uuids: readonly string[]): CdiSpec {
  const devices = generated.devices
    .filter(({ name }) => uuids.includes(name))
    .map(({ name, containerEdits }) => ({ name, containerEdits: kept(containerEdits, (path) => CARD_NODE.test(path)) }))
  return {
    cdiVersion: VERSION,
    kind: CDI_KIND,
    devices,
    containerEdits: kept(generated.containerEdits ?? {}, (path) => COMMON_NODES.includes(path)),
  }
}

/** Fields that are not named here, such as further groups, are left out too. */
function kept(
  { env = [], deviceNodes = [], mounts = [], hooks = [] }: Edits,
  isNode: (path: string) => boolean,
): Edits {
  const edits = {
    env,
    deviceNodes: deviceNodes
      .filter(({ path }) => isNode(path))
      .map(({ path, hostPath }) => ({
        path,
        ...(hostPath && { hostPath }),
        fileMode: DEVICE_MODE,
        // Without `m`: a container makes no devices.
        permissions: 'rw',
      })),
    mounts: mounts
      .filter(({ hostPath, containerPath }) => !OF_SERVICES.test(hostPath) && !OF_SERVICES.test(containerPath))
      .map(({ hostPath, containerPath, options = [] }) => ({
        hostPath,
        containerPath,
        options: [...new Set([...MOUNT_OPTIONS, ...options.filter((option) => option !== 'rw')])],
      })),
    hooks: hooks.filter(isLibraryHook).map(({ hookName, path, args = [], env: variables }) => ({
      hookName,
      path,
      args,
      ...(variables && { env: variables }),
    })),
  }
  return Object.fromEntries(Object.entries(edits).filter(([, list]) => list.length))
}

function isLibraryHook({ hookName, path, args = [] }: Hook): boolean {
  const [, first = '', second = ''] = args
  return (
    hookName === 'createContainer' &&
    HOOK_PROGRAM.test(path) &&
    HOOK_TASKS.includes(first === 'hook' ? second : first) &&
    // Links to devices of screens.
    !args.some((word) => word.includes('/dev/dri'))
  )
}

/** Puts the file in place in one step, if it differs. An empty list of cards removes it. Returns whether it changed. */
export function writeCdi(spec: CdiSpec, dir = CDI_DIR): boolean {
  const file = join(dir, FILE)
  const before = read(file)
  if (!spec.devices.length) {
    rmSync(file, { force: true })
    return before !== undefined
  }
  const text = JSON.stringify(spec, undefined, 2) + '\n'
  if (before === text) return false
  mkdirSync(dir, { recursive: true, mode: 0o755 })
  // An engine reads every file whose name ends in .json.
  const unfinished = join(dir, `.${FILE}.new`)
  writeFileSync(unfinished, text)
  // The umask of the agent would leave it to root; it holds no secret, and engines of other users may read it.
  chmodSync(unfinished, 0o644)
  renameSync(unfinished, file)
  return true
}

/** The cards that can be asked for by name. */
export function namedIn(dir = CDI_DIR): string[] {
  const text = read(join(dir, FILE))
  return text ? (JSON.parse(text) as CdiSpec).devices.map(({ name }) => name) : []
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
