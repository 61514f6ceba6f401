import { readFileSync } from 'node:fs'
import { isIPv4 } from 'node:net'

/** systemd's own list, where /etc/resolv.conf names its resolver on the host's loopback alone. */
const FILES = ['/etc/resolv.conf', '/run/systemd/resolve/resolv.conf']
/** The C library asks no more. */
const MOST = 3

/** The IPv4 name servers of the host that an instance can reach too; empty where the host asks itself alone. */
export function nameServersOfHost(files: readonly string[] = FILES): string[] {
  for (const file of files) {
    const found = [...textOf(file).matchAll(/^\s*nameserver\s+(\S+)/gm)].map(([, address]) => address!)
    const usable = found.filter((address) => isIPv4(address) && !address.startsWith('127.'))
    if (usable.length) return [...new Set(usable)].slice(0, MOST)
  }
  return []
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
