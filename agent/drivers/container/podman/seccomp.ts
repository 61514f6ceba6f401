// The system calls that instances may make: those of the host's profile for containers, without those that open parts
// of the kernel in which faults were found that lead out of a container.
import { existsSync, readFileSync } from 'node:fs'
import { Failure } from '../../../failure.ts'

/** The profile of the package containers-common, which names the calls of each architecture and kernel. */
export const HOST_PROFILE = '/usr/share/containers/seccomp.json'

/** Namespaces and mounts of their own, programs and keys in the kernel, and other people's memory. */
const withheld = new Set([
  ...['setns', 'mount', 'umount', 'umount2', 'pivot_root', 'move_mount', 'mount_setattr', 'open_tree'],
  ...['fsopen', 'fsconfig', 'fsmount', 'fspick', 'statmount', 'listmount', 'quotactl', 'quotactl_fd'],
  ...['bpf', 'perf_event_open', 'userfaultfd', 'add_key', 'keyctl', 'request_key'],
  ...['io_uring_setup', 'io_uring_enter', 'io_uring_register'],
  ...['open_by_handle_at', 'name_to_handle_at', 'kcmp', 'vmsplice', 'acct', 'syslog', 'fanotify_init'],
])
/** Allowed without new namespaces alone; the mask has the flags of all kinds of namespaces. */
const NAMESPACES = 0x7e02_0000
const TIME_NAMESPACE = 0x80
const ENOSYS = 38

type Argument = { index: number; value: number; valueTwo: number; op: string }
type Rule = { names: string[]; action: string; args?: Argument[]; errnoRet?: number; errno?: string }
type Profile = { syscalls: Rule[] }

/** The profile for instances, made from the host's. */
export function profileFrom(host: Profile): Profile {
  const special = new Set([...withheld, 'clone', 'clone3', 'unshare'])
  const rest = host.syscalls.flatMap((rule) => {
    const names = rule.names.filter((name) => !special.has(name))
    return names.length ? [{ ...rule, names }] : []
  })
  return {
    ...host,
    syscalls: [
      ...rest,
      { names: ['clone'], action: 'SCMP_ACT_ALLOW', args: [without(NAMESPACES)] },
      { names: ['unshare'], action: 'SCMP_ACT_ALLOW', args: [without(NAMESPACES | TIME_NAMESPACE)] },
      // Its flags are in memory, where no filter sees them. Programs that hear ENOSYS use clone.
      { names: ['clone3'], action: 'SCMP_ACT_ERRNO', errnoRet: ENOSYS, errno: 'ENOSYS' },
    ],
  }
}

const without = (flags: number): Argument => ({ index: 0, value: flags, valueTwo: 0, op: 'SCMP_CMP_MASKED_EQ' })

/** Throws `no_container_engine` on a host without the profile. */
export function profileOfHost(path = HOST_PROFILE): string {
  if (!existsSync(path))
    throw new Failure('no_container_engine', `${path} is missing; install golang-github-containers-common`)
  return JSON.stringify(profileFrom(JSON.parse(readFileSync(path, 'utf8')) as Profile))
}
