import type { PodmanApi } from './api.ts'

const HEADER_BYTES = 8
const LENGTH_AT = 4
/** More than one answer to the controller can carry. */
const MOST_BYTES = 1 << 20

/** The last lines that a container has written, on both outputs. */
export async function lastLines(api: PodmanApi, workload: string, lines: number): Promise<string> {
  const query = { stdout: true, stderr: true, tail: lines }
  const response = await api.send('GET', `/containers/${workload}/logs`, { query })
  if (!response.ok) return ''
  return textOf(Buffer.from(await response.arrayBuffer()).subarray(-MOST_BYTES * 2))
}

/** The text of frames: one byte for the output, three zeros, four bytes of length, the text. */
export function textOf(bytes: Buffer): string {
  const parts: Buffer[] = []
  // A tail that was cut may begin within a frame.
  for (let at = firstHeader(bytes); at + HEADER_BYTES <= bytes.length; ) {
    const length = bytes.readUInt32BE(at + LENGTH_AT)
    parts.push(bytes.subarray(at + HEADER_BYTES, at + HEADER_BYTES + length))
    at += HEADER_BYTES + length
  }
  return Buffer.concat(parts).toString('utf8')
}

function firstHeader(bytes: Buffer): number {
  for (let at = 0; at + HEADER_BYTES <= bytes.length; at++) if (isChain(bytes, at)) return at
  return bytes.length
}

/** Headers follow one another to the end only from a place where one begins. */
function isChain(bytes: Buffer, from: number): boolean {
  let at = from
  while (at + HEADER_BYTES <= bytes.length) {
    const isHeader = bytes[at]! <= 2 && bytes[at + 1] === 0 && bytes[at + 2] === 0 && bytes[at + 3] === 0
    if (!isHeader) return false
    at += HEADER_BYTES + bytes.readUInt32BE(at + LENGTH_AT)
  }
  return at === bytes.length
}
