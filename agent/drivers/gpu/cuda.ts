// The memory of a card by the driver's library. It is used in a process of its own (card-tool.ts), because a card that
// is broken can hold a call for ever, and because the driver gives all memory of a program back at its end. The
// signatures are those of NVIDIA's CUDA driver API; `_v2` are the names that programs of today get.
import { CString, dlopen, FFIType, type Pointer, ptr, toArrayBuffer } from 'bun:ffi'

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
  cuMemAllocHost_v2: { args: [FFIType.ptr, u64], returns: i32 },
  cuMemsetD32_v2: { args: [u64, u32, u64], returns: i32 },
  cuMemcpyDtoH_v2: { args: [FFIType.ptr, u64, u64], returns: i32 },
  cuMemcpyDtoHAsync_v2: { args: [FFIType.ptr, u64, u64, u64], returns: i32 },
  cuMemcpyDtoD_v2: { args: [u64, u64, u64], returns: i32 },
} as const

const OUT_OF_MEMORY = 2
const MEMORY_CLOCK_RATE_KHZ = 36
const MEMORY_BUS_WIDTH_BITS = 37
const MIB = 2 ** 20
/** The order in which the card does what it is told, where none was made. */
const USUAL_STREAM = 0
/** Sizes in which memory is taken, each until the card refuses it. */
const CHUNKS_BYTES = [1024, 256, 64, 16, 4, 2].map((mib) => mib * MIB)

/** A part of the card's memory that this process has. */
export type Chunk = { address: bigint; bytes: number }

/** Where the driver's library is, and the address of the card, which must be the only one that this process sees. */
export type CardRequest = { library: string; bus: string }

/** The card, with a context of this process. Each call throws with the driver's name for what went wrong. */
export function openCard({ library, bus }: CardRequest) {
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

  const attribute = (which: number): number => {
    const value = new Int32Array(1)
    return cuda.cuDeviceGetAttribute(ptr(value), which, device) === 0 ? value[0]! : 0
  }

  return {
    /** Bytes that programs can still get, and that they can get in all. */
    memory(): { free: number; total: number } {
      const [free, total] = [new BigUint64Array(1), new BigUint64Array(1)]
      must('cuMemGetInfo', cuda.cuMemGetInfo_v2(ptr(free), ptr(total)))
      return { free: Number(free[0]), total: Number(total[0]) }
    },

    /** Takes all memory that a program can get. */
    takeAll(): Chunk[] {
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
    },

    give({ address }: Chunk) {
      must('cuMemFree', cuda.cuMemFree_v2(address))
    },

    /** Memory of the host to which the card writes without a copy between. */
    hostBuffer(bytes: number): Buffer {
      const place = new BigUint64Array(1)
      must('cuMemAllocHost', cuda.cuMemAllocHost_v2(ptr(place), bytes))
      return Buffer.from(toArrayBuffer(Number(place[0]) as Pointer, 0, bytes))
    },

    fill({ address, bytes }: Chunk, word: number) {
      must('cuMemsetD32', cuda.cuMemsetD32_v2(address, word, bytes / 4))
    },

    /** Copies as many bytes as `into` has from the card. */
    read(into: Buffer, address: bigint) {
      must('cuMemcpyDtoH', cuda.cuMemcpyDtoH_v2(ptr(into), address, into.length))
    },

    /** As `read`, into memory that `hostBuffer` gave; the bytes are there after `synchronize`. */
    beginRead(into: Buffer, address: bigint) {
      must('cuMemcpyDtoHAsync', cuda.cuMemcpyDtoHAsync_v2(ptr(into), address, into.length, USUAL_STREAM))
    },

    copy(to: bigint, from: bigint, bytes: number) {
      must('cuMemcpyDtoD', cuda.cuMemcpyDtoD_v2(to, from, bytes))
    },

    /** Waits until the card has done what it was told. */
    synchronize() {
      must('cuCtxSynchronize', cuda.cuCtxSynchronize())
    },

    /** The throughput that clock and bus of the memory allow, in 10^9 bytes per second; 0: the driver does not say. */
    peakGBps(): number {
      // Both edges of the clock carry data.
      const bytesPerTick = 2 * (attribute(MEMORY_BUS_WIDTH_BITS) / 8)
      return Math.round((attribute(MEMORY_CLOCK_RATE_KHZ) * 1000 * bytesPerTick) / 1e8) / 10
    },
  }
}
export type OpenCard = ReturnType<typeof openCard>
