// Which real drivers can be tested on this machine. A test that is left out says why.
import { find, type Program, run } from '../../agent/host/exec.ts'

/** Undefined when all is there, else what is missing, in words. */
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

/** The drivers of a contract: the fake always, the real one when this machine can. */
export function note(reason: string | undefined, what: string) {
  if (reason) process.stderr.write(`left out: ${what} (${reason})\n`)
  return reason !== undefined
}
