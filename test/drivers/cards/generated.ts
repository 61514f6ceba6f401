// The output of NVIDIA's toolkit, made by hand after its documentation and outputs in public.
import type { CdiSpec } from '../../../agent/drivers/gpu/cdi.ts'
import { OTHER_UUID, UUID } from './report.ts'

export const HOOK = '/usr/bin/nvidia-cdi-hook'
const hook = (...args: string[]) => ({ hookName: 'createContainer', path: HOOK, args: ['nvidia-cdi-hook', ...args] })
export const mount = (path: string, ...options: string[]) => ({ hostPath: path, containerPath: path, options })
const device = (name: string, minor: number) => ({
  name,
  containerEdits: {
    deviceNodes: [
      { path: `/dev/nvidia${minor}`, major: 195, minor, fileMode: 438, permissions: 'rwm' },
      { path: `/dev/dri/card${minor}`, major: 226, permissions: 'rwm', gid: 39 },
    ],
    hooks: [hook('create-symlinks', '--link', `../card${minor}::/dev/dri/by-path/pci-0000:3b:00.0-card`)],
    additionalGids: [39],
  },
})

/** In the form of `nvidia-ctk cdi generate --format=json` of 1.18, with everything that a host can have. */
export const generated = {
  cdiVersion: '0.7.0',
  kind: 'nvidia.com/gpu',
  devices: [device(UUID, 0), device(OTHER_UUID, 1), device('all', 0), device('0', 0)],
  containerEdits: {
    env: ['NVIDIA_VISIBLE_DEVICES=void'],
    deviceNodes: [
      { path: '/dev/nvidiactl' },
      { path: '/dev/nvidia-uvm', hostPath: '/driver/dev/nvidia-uvm' },
      { path: '/dev/nvidia-uvm-tools' },
      { path: '/dev/nvidia-modeset' },
      { path: '/dev/nvidia-nvswitchctl' },
      { path: '/dev/nvidia-caps-imex-channels/channel0' },
    ],
    hooks: [
      hook('create-symlinks', '--link', 'libcuda.so.1::/usr/lib/libcuda.so'),
      hook('update-ldcache', '--folder', '/usr/lib'),
      hook('enable-cuda-compat', '--host-driver-version=570.133.20'),
      hook('chmod', '--mode', '755', '--path', '/dev/dri'),
      { hookName: 'prestart', path: '/usr/bin/nvidia-container-runtime-hook', args: ['x', 'update-ldcache'] },
      { hookName: 'createContainer', path: '/tmp/nvidia-cdi-hook', args: ['nvidia-cdi-hook', 'update-ldcache'] },
    ],
    mounts: [
      mount('/usr/lib/libcuda.so.570.133.20', 'ro', 'nosuid', 'nodev', 'rbind', 'rprivate'),
      mount('/usr/bin/nvidia-smi', 'rw', 'bind'),
      mount('/run/nvidia-persistenced/socket', 'ro', 'noexec'),
      mount('/var/run/nvidia-fabricmanager/socket', 'ro'),
      mount('/tmp/nvidia-mps', 'rw'),
    ],
  },
} as CdiSpec
