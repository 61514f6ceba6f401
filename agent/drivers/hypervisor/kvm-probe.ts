// Tests whether KVM works. Neither /dev/kvm nor a vm that was created proves it: on some hosts both exist and every
// guest hangs. The probe boots a guest of 512 bytes, which switches to 64-bit mode, calculates, and leaves by QEMU's
// debug exit.
import { accessSync, constants, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Failure, wordsOf } from '../../failure.ts'
import { find, run } from '../../host/exec.ts'
import type { Facts } from '../../protocol/wire.ts'

export type Virtualisation = Facts['virtualisation']

const QEMU = 'qemu-system-x86_64'
const LIMIT_SECONDS = 3
/** isa-debug-exit ends QEMU with (value << 1) | 1. */
const PROOF = 0x2a
export const PROOF_EXIT = (PROOF << 1) | 1

/** The virtualisation of this host and the reason. The result is cached in `cacheDir` for this boot and this QEMU. */
export async function probe(cacheDir: string, bootId: string): Promise<Virtualisation> {
  if (!find(QEMU)) return { kind: 'none', reason: `${QEMU} is not installed` }
  const sign = signAgainstKvm()
  if (sign) return { kind: 'emulation', reason: `${sign}; guests are emulated` }
  const version = await qemuVersion()
  const asked = `${bootId} ${version}`
  return cached(cacheDir, asked) ?? keep(cacheDir, asked, await bootWithKvm())
}

/** A reason why KVM cannot work, from the processor's flags and /dev/kvm; undefined when only the probe can tell. */
export function signAgainstKvm(cpuinfo = readFileSync('/proc/cpuinfo', 'utf8')): string | undefined {
  if (!/^flags\s*:.*\b(vmx|svm)\b/m.test(cpuinfo)) return 'the processor offers no virtualisation (no vmx or svm flag)'
  try {
    accessSync('/dev/kvm', constants.R_OK | constants.W_OK)
    return undefined
  } catch {
    return '/dev/kvm cannot be opened'
  }
}

/** QEMU's version, from the first line of `--version`. */
export async function qemuVersion(): Promise<string> {
  const { out } = await run(QEMU, ['--version'], { quietly: true, limitSeconds: 10 })
  return /version (\S+)/.exec(out)?.[1] ?? 'unknown'
}

async function bootWithKvm(): Promise<Virtualisation> {
  const outcome = await bootProbe(['-accel', 'kvm', '-cpu', 'host'])
  if (outcome === undefined) return { kind: 'kvm', reason: 'a probe guest reached 64-bit mode with KVM' }
  return { kind: 'emulation', reason: `a probe guest did not run with KVM (${outcome}); guests are emulated` }
}

/** Boots the probe guest. Undefined when it ran to its end, else a description of what happened instead. */
export async function bootProbe(accelerator: string[]): Promise<string | undefined> {
  const dir = mkdtempSync(join(tmpdir(), 'berth-probe-'))
  const disk = join(dir, 'boot.img')
  writeFileSync(disk, bootSector())
  const machine = ['-nodefaults', '-no-user-config', '-display', 'none', '-no-reboot', '-m', '16']
  const exit = ['-device', 'isa-debug-exit,iobase=0xf4,iosize=1', '-drive', `file=${disk},format=raw,if=ide`]
  try {
    const { code, err } = await run(QEMU, [...machine, ...accelerator, ...exit], {
      mayFail: true,
      quietly: true,
      limitSeconds: LIMIT_SECONDS,
    })
    return code === PROOF_EXIT ? undefined : `qemu ended with ${code}: ${err.trim().split('\n')[0] ?? ''}`.slice(0, 300)
  } catch (error) {
    return error instanceof Failure && error.code === 'tool_timeout' ? `it hung for ${LIMIT_SECONDS} s` : wordsOf(error)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

/** The probe guest as machine code: real mode at 0x7c00, page tables at 0x1000, long mode, one sum, out 0xf4. */
function bootSector(): Buffer {
  const code = [
    'fa 31c0 8ed8 8ec0 8ed0 bc007c', // cli; ax, ds, es, ss = 0; sp = 0x7c00
    'bf0010 b9000c 6631c0 fc 66f3ab', // clear 0x1000 to 0x3fff
    '66c7060010 03200000', // first level -> 0x2000
    '66c7060020 03300000', // second level -> 0x3000
    '66c7060030 83000000', // third level: one page of 2 MiB at 0
    '66b800100000 0f22d8', // cr3 = 0x1000
    '0f20e0 6683c820 0f22e0', // cr4: physical address extension
    '66b9800000c0 0f32 660d00010000 0f30', // EFER: long mode enable
    '660f0116a87c', // load the descriptor table at 0x7ca8
    '0f20c0 660d01000080 0f22c0', // cr0: protection and paging on
    '66ea717c00000800', // far jump into the 64-bit segment, to 0x7c71
    '48b8f0debc9a78563412 48c1c004', // rax = 0x123456789abcdef0, rotated left by 4
    '48bb01efcdab89674523', // rbx = what that must be
    '4839c3 7507', // unequal: on to the halt
    'b02a 66baf400 ee', // al = 0x2a; out 0xf4, al
    'f4 ebfd', // halt for ever
    '0000000000000000 00000000009a2000', // descriptors: none, 64-bit code
    '0f00 987c0000', // the descriptor table: its length less one, its address
  ]
  const sector = Buffer.alloc(512)
  Buffer.from(code.join('').replaceAll(' ', ''), 'hex').copy(sector)
  sector.writeUInt16LE(0xaa55, 510)
  return sector
}

const cacheFile = (dir: string) => join(dir, 'kvm-probe.json')

function cached(dir: string, asked: string): Virtualisation | undefined {
  try {
    const kept = JSON.parse(readFileSync(cacheFile(dir), 'utf8')) as { asked: string; found: Virtualisation }
    return kept.asked === asked ? kept.found : undefined
  } catch {
    return undefined
  }
}

function keep(dir: string, asked: string, found: Virtualisation): Virtualisation {
  writeFileSync(cacheFile(dir), JSON.stringify({ asked, found }) + '\n')
  return found
}
