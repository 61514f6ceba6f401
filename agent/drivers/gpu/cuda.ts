// Clears a card by the driver's library, proves it clear and puts a short load on it. It runs in a process of its own
// (card-tool.ts), because a broken card can hold a call for ever, and because the driver gives all memory of a program
// back at its end. The signatures are those of NVIDIA's CUDA driver API; `_v2` are the names that programs of today
// get.
import { CString, dlopen, FFIType, type Pointer, ptr } from 'bun:ffi'
import { randomInt } from 'node:crypto'
import type { Cleared } from './health.ts'

const { i32, u32, u64 } = FFIType
const symbols = {
  cuInit: { args: [u32], returns: i32 },
  cuGetErrorName: { args: [i32, FFIType.ptr], returns: i32 },
  cuDeviceGetCount: { args: [FFIType.ptr], returns: i32 },
  cuDeviceGet: { args: [FFIType.ptr, i32], returns: i32 },
  cuDeviceGetPCIBusId: { args: [FFIType.ptr, i32, i32], returns: i32 },
  cuDeviceGetAttribute: { args: [FFIType.ptr, i32, i32], returns: i32 },
  cuDevicePrimaryCtxRetain: { args: [FFIType.ptr, i32], returns: i32 },
  cuCtxSetCurrent: { args: [FFIType.ptr], returns: i32 },
  cuCtxSynchronize: { args: [], returns: i32 },
  cuMemGetInfo_v2: { args: [FFIType.ptr, FFIType.ptr], returns: i32 },
  cuMemAlloc_v2: { args: [FFIType.ptr, u64], returns: i32 },
  cuMemFree_v2: { args: [u64], returns: i32 },
  cuMemsetD32_v2: { args: [u64, u32, u64], returns: i32 },
  cuMemcpyDtoH_v2: { args: [FFIType.ptr, u64, u64], returns: i32 },
  cuMemcpyDtoD_v2: { args: [u64, u64, u64], returns: i32 },
} as const

const OUT_OF_MEMORY = 2
const MEMORY_CLOCK_RATE_KHZ = 36
const MEMORY_BUS_WIDTH_BITS = 37
const MIB = 2 ** 20
/** Sizes in which memory is taken, each until the card refuses it. */
const CHUNKS_BYTES = [1024, 256, 64, 16, 4, 2].map((mib) => mib * MIB)
const SAMPLE_BYTES = 64 << 10
const SAMPLES_PER_CHUNK = 16
/** Bits that alternate, so that none that is stuck looks right by chance. */
const PATTERN = 0xa5a5a5a5
const LOAD_MS = 400

type Chunk = { address: bigint; bytes: number }

/** Where the driver's library is, and the address of the card, which must be the only one that this process sees. */
export type ClearRequest = { library: string; bus: string }

/** Clears the card. Throws with the driver's name for what went wrong. */
export function clearCard({ library, bus }: ClearRequest): Cleared {
  const { symbols: cuda } = dlopen(library, symbols)
  const must = (what: string, code: number) => {
    if (code !== 0) throw new Error(`${what} failed: ${nameOf(code)}`)
  }
  const nameOf = (code: number) => {
    const place = new BigUint64Array(1)
    return cuda.cuGetErrorName(code, ptr(place)) === 0 && place[0]
      ? new CString(Number(place[0]) as Pointer).toString()
      : `error ${code}`
  }
  must('cuInit', cuda.cuInit(0))
  const device = onlyDevice()
  const context = new BigUint64Array(1)
  must('cuDevicePrimaryCtxRetain', cuda.cuDevicePrimaryCtxRetain(ptr(context), device))
  must('cuCtxSetCurrent', cuda.cuCtxSetCurrent(Number(context[0]) as Pointer))

  const totalBytes = memory().total
  const chunks = allMemory()
  const clearedBytes = chunks.reduce((sum, { bytes }) => sum + bytes, 0)
  const leftBytes = memory().free
  // The pattern shows that what is written arrives, and that the samples see it.
  const pattern = fillAndProve(PATTERN)
  const memoryGBps = load()
  const zero = fillAndProve(0)
  for (const { address } of chunks) must('cuMemFree', cuda.cuMemFree_v2(address))
  return {
    totalBytes,
    clearedBytes,
    leftBytes,
    samples: pattern.samples + zero.samples,
    badSamples: pattern.bad + zero.bad,
    memoryGBps,
    peakGBps: peakGBps(),
  }

  function onlyDevice(): number {
    const count = new Int32Array(1)
    must('cuDeviceGetCount', cuda.cuDeviceGetCount(ptr(count)))
    if (count[0] !== 1) throw new Error(`${count[0]} cards are seen where one should be`)
    const found = new Int32Array(1)
    must('cuDeviceGet', cuda.cuDeviceGet(ptr(found), 0))
    const text = Buffer.alloc(32)
    must('cuDeviceGetPCIBusId', cuda.cuDeviceGetPCIBusId(ptr(text), text.length, found[0]!))
    const at = text.toString('latin1', 0, text.indexOf(0)).toLowerCase()
    if (at !== bus) throw new Error(`the card at ${at} was found where ${bus} should be`)
    return found[0]!
  }

  function memory(): { free: number; total: number } {
    const [free, total] = [new BigUint64Array(1), new BigUint64Array(1)]
    must('cuMemGetInfo', cuda.cuMemGetInfo_v2(ptr(free), ptr(total)))
    return { free: Number(free[0]), total: Number(total[0]) }
  }

  function allMemory(): Chunk[] {
    const taken: Chunk[] = []
    const address = new BigUint64Array(1)
    for (const bytes of CHUNKS_BYTES)
      for (;;) {
        const code = cuda.cuMemAlloc_v2(ptr(address), bytes)
        if (code === OUT_OF_MEMORY) break
        must('cuMemAlloc', code)
        taken.push({ address: address[0]!, bytes })
      }
    return taken
  }

  function fillAndProve(word: number): { samples: number; bad: number } {
    for (const { address, bytes } of chunks) must('cuMemsetD32', cuda.cuMemsetD32_v2(address, word, bytes / 4))
    must('cuCtxSynchronize', cuda.cuCtxSynchronize())
    const expected = Buffer.alloc(SAMPLE_BYTES, word & 0xff)
    const read = Buffer.alloc(SAMPLE_BYTES)
    let samples = 0
    let bad = 0
    for (const { address, bytes } of chunks) {
      const last = bytes - SAMPLE_BYTES
      const between = Array.from({ length: SAMPLES_PER_CHUNK }, () => randomInt(last / 4096 + 1) * 4096)
      for (const offset of [0, last, ...between]) {
        must('cuMemcpyDtoH', cuda.cuMemcpyDtoH_v2(ptr(read), address + BigInt(offset), SAMPLE_BYTES))
        samples++
        if (!read.equals(expected)) bad++
      }
    }
    return { samples, bad }
  }

  /** Copies within the card for a while. Each byte is read once and written once. */
  function load(): number {
    const bytes = (chunks[0]?.bytes ?? 0) / 2
    const halves = chunks.filter((chunk) => chunk.bytes / 2 === bytes)
    if (!bytes) return 0
    const began = performance.now()
    let moved = 0
    do {
      for (const { address } of halves)
        must('cuMemcpyDtoD', cuda.cuMemcpyDtoD_v2(address + BigInt(bytes), address, bytes))
      must('cuCtxSynchronize', cuda.cuCtxSynchronize())
      moved += 2 * bytes * halves.length
    } while (performance.now() - began < LOAD_MS)
    return Math.round(moved / 1e5 / (performance.now() - began)) / 10
  }

  /** Both edges of the clock carry data. 0 where the driver does not say. */
  function peakGBps(): number {
    const [clock, width] = [MEMORY_CLOCK_RATE_KHZ, MEMORY_BUS_WIDTH_BITS].map((attribute) => {
      const value = new Int32Array(1)
      return cuda.cuDeviceGetAttribute(ptr(value), attribute, device) === 0 ? value[0]! : 0
    })
    return Math.round((2 * clock! * 1000 * (width! / 8)) / 1e8) / 10
  }
}
