// Finds the real drivers that can be tested on this machine. A test that is skipped prints the reason.
import { find, type Program, run } from '../../agent/host/exec.ts'

/** Undefined when everything is installed, else a description of what is missing. */
export async function missing(...programs: Program[]): Promise<string | undefined> {
  const absent = programs.filter((program) => !find(program))
  if (absent.length) return `${absent.join(', ')} not installed`
  if (programs.includes('virsh')) {
    const { code } = await run('virsh', ['-c', 'qemu:///system', 'version'], { mayFail: true, limitSeconds: 10 }).catch(
      () => ({ code: 1 }),
    )
    if (code !== 0) return 'libvirtd does not answer'
  }
  return undefined
}

/** Prints the reason why a test is skipped. Returns whether there is one, for `skipIf`. */
export function note(reason: string | undefined, what: string) {
  if (reason) process.stderr.write(`left out: ${what} (${reason})\n`)
  return reason !== undefined
}
