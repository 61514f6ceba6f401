// Consoles of vms under libvirt. The screen is the socket that libvirt made for QEMU's VNC server; the serial line is a
// socket in a directory that only root can enter, because libvirt makes it for everybody.
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { Failure } from '../../failure.ts'
import { run } from '../../host/exec.ts'
import type { ConsoleKind } from '../../protocol/console.ts'
import { serialXml, uuidOf } from '../hypervisor/domain-xml.ts'
import type { Consoles } from './consoles.ts'

const URI = ['-c', 'qemu:///system']

/** The files of a vm's serial line: the socket, and the log that virtlogd writes and rotates (four files of 2 MiB). */
export type SerialFiles = { socket: string; log: string }
export const serialFiles = (dir: string, workload: string): SerialFiles => ({
  socket: join(dir, `${workload}.sock`),
  log: join(dir, `${workload}.log`),
})

/** Makes the directory of serial lines. The sockets in it have mode 0775, so nobody else may enter it. */
export function makeSerialDir(dir: string) {
  mkdirSync(dir, { recursive: true, mode: 0o700 })
}

/** A definition from before consoles has a serial line that leads nowhere: it gets one, for the start that follows. */
export async function giveSerialLine(dir: string, workload: string) {
  const files = serialFiles(dir, workload)
  const domain = await definitionOf(workload, ['--inactive'])
  if (!domain || serialOf(domain.devices, files)) return
  makeSerialDir(dir)
  const change = (command: 'detach-device' | 'attach-device', stdin: string) =>
    run('virsh', [...URI, command, uuidOf(workload), '/dev/stdin', '--config'], { stdin, limitSeconds: 20 })
  if (all(domain.devices?.serial).length) await change('detach-device', serialXml(undefined))
  await change('attach-device', serialXml(files))
}

type Live = { graphics?: unknown; serial?: unknown }

export class LibvirtConsoles implements Consoles {
  constructor(private dir: string) {}

  async socket(workload: string, kind: ConsoleKind): Promise<string> {
    const domain = await definitionOf(workload)
    // Only a domain that runs has a number.
    if (!domain?.['@id']) throw new Failure('not_running', `${workload} is not running`)
    const path = kind === 'vnc' ? screenOf(domain.devices) : serialOf(domain.devices, serialFiles(this.dir, workload))
    if (!path)
      throw new Failure('no_serial_line', `${workload} was started without ${kind === 'vnc' ? 'a screen' : 'one'}`)
    return path
  }

  async tail(workload: string, mostBytes: number): Promise<Uint8Array> {
    const { log } = serialFiles(this.dir, workload)
    const newest = await lastBytes(log, mostBytes)
    const older = newest.length < mostBytes ? await lastBytes(`${log}.0`, mostBytes - newest.length) : Buffer.alloc(0)
    return Buffer.concat([older, newest])
  }

  async forget(workload: string) {
    if (!existsSync(this.dir)) return
    for (const name of readdirSync(this.dir)) if (name.startsWith(`${workload}.`)) rmSync(join(this.dir, name))
  }
}

/** Undefined for a vm that is not defined. */
async function definitionOf(workload: string, options: string[] = []) {
  const { code, out } = await run('virsh', [...URI, 'dumpxml', ...options, uuidOf(workload)], {
    mayFail: true,
    quietly: true,
    limitSeconds: 10,
  })
  return code === 0 ? (Bun.XML.parse(out) as { domain?: { '@id'?: string; devices?: Live } }).domain : undefined
}

const all = (one: unknown): any[] => (one === undefined ? [] : Array.isArray(one) ? one : [one])

const screenOf = (devices: Live = {}): string | undefined =>
  all(devices.graphics)
    .filter((graphics) => graphics['@type'] === 'vnc')
    .flatMap(({ listen }) => all(listen))
    .find((listen) => listen['@type'] === 'socket')?.['@socket']

/** The socket is one of ours, or none: a path from elsewhere is not connected to. */
const serialOf = (devices: Live = {}, { socket }: SerialFiles): string | undefined =>
  all(devices.serial).some(({ source }) => source?.['@path'] === socket && source['@mode'] === 'bind')
    ? socket
    : undefined

async function lastBytes(path: string, most: number): Promise<Buffer> {
  const file = await open(path).catch(() => undefined)
  if (!file) return Buffer.alloc(0)
  try {
    const { size } = await file.stat()
    const bytes = Buffer.alloc(Math.min(size, most))
    const { bytesRead } = await file.read(bytes, 0, bytes.length, size - bytes.length)
    return bytes.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}
