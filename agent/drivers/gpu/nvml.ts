// The use of the cards by NVIDIA's management library, which costs far less than a run of nvidia-smi. It runs in a
// process of its own (card-tool.ts), because a broken card can hold a call for minutes. The signatures and structures
// are those of NVML 11 and newer.
import { dlopen, FFIType, type Pointer, ptr } from 'bun:ffi'
import type { CardSample } from '../../protocol/gpu.ts'

const { i32, u32, u64 } = FFIType
const symbols = {
  nvmlInit_v2: { args: [], returns: i32 },
  nvmlDeviceGetCount_v2: { args: [FFIType.ptr], returns: i32 },
  nvmlDeviceGetHandleByIndex_v2: { args: [u32, FFIType.ptr], returns: i32 },
  nvmlDeviceGetUUID: { args: [u64, FFIType.ptr, u32], returns: i32 },
  nvmlDeviceGetUtilizationRates: { args: [u64, FFIType.ptr], returns: i32 },
  nvmlDeviceGetMemoryInfo_v2: { args: [u64, FFIType.ptr], returns: i32 },
  nvmlDeviceGetTemperature: { args: [u64, i32, FFIType.ptr], returns: i32 },
  nvmlDeviceGetPowerUsage: { args: [u64, FFIType.ptr], returns: i32 },
  nvmlDeviceGetTotalEccErrors: { args: [u64, i32, i32, FFIType.ptr], returns: i32 },
} as const

const NOT_SUPPORTED = 3
/** The temperature of the processor; errors by kind; those since the driver was loaded. */
const [SENSOR_GPU, CORRECTED, UNCORRECTED, VOLATILE] = [0, 0, 1, 0]
/** `unsigned int version`, then total, reserved, free and used as `unsigned long long`, each at a multiple of 8. */
const MEMORY_BYTES = 40
const MEMORY_VERSION = MEMORY_BYTES | (2 << 24)
const UUID_BYTES = 96
const MIB = 2 ** 20

/**
 * Opens the library. The function that it returns answers the samples of the cards that answer now. Throws where there
 * is no such library, or it has no driver.
 */
export function openNvml(library: string): () => CardSample[] {
  const { symbols: nvml } = dlopen(library, symbols)
  const started = nvml.nvmlInit_v2()
  if (started !== 0) throw new Error(`nvmlInit failed: error ${started}`)
  return () => {
    const count = new Uint32Array(1)
    if (nvml.nvmlDeviceGetCount_v2(ptr(count)) !== 0) return []
    return Array.from({ length: count[0]! }, (_, i) => sampleOf(i)).filter((sample) => sample !== undefined)
  }

  function sampleOf(index: number): CardSample | undefined {
    const handle = new BigUint64Array(1)
    if (nvml.nvmlDeviceGetHandleByIndex_v2(index, ptr(handle)) !== 0) return undefined
    const device = handle[0]!
    const text = Buffer.alloc(UUID_BYTES)
    if (nvml.nvmlDeviceGetUUID(device, ptr(text), text.length) !== 0) return undefined
    const memory = new DataView(new ArrayBuffer(MEMORY_BYTES))
    memory.setUint32(0, MEMORY_VERSION, true)
    if (nvml.nvmlDeviceGetMemoryInfo_v2(device, ptr(memory)) !== 0) return undefined
    const rates = new Uint32Array(2)
    if (!answers(nvml.nvmlDeviceGetUtilizationRates(device, ptr(rates)))) return undefined
    return {
      uuid: text.toString('latin1', 0, text.indexOf(0)),
      usePercent: rates[0]!,
      memoryUsedMb: usedMb(memory),
      temperatureC: one((place) => nvml.nvmlDeviceGetTemperature(device, SENSOR_GPU, place)),
      powerW: Math.round(one((place) => nvml.nvmlDeviceGetPowerUsage(device, place)) / 1000),
      correctedErrors: errors(device, CORRECTED),
      uncorrectedErrors: errors(device, UNCORRECTED),
    }
  }

  function errors(device: bigint, kind: number): number {
    const sum = new BigUint64Array(1)
    return nvml.nvmlDeviceGetTotalEccErrors(device, kind, VOLATILE, ptr(sum)) === 0 ? Number(sum[0]) : 0
  }
}

/** Whether the field `used` counts what is reserved for the driver depends on the driver, so it is not read. */
function usedMb(memory: DataView): number {
  const [total, reserved, free] = [8, 16, 24].map((offset) => memory.getBigUint64(offset, true))
  return Math.max(0, Number((total! - reserved! - free!) / BigInt(MIB)))
}

/** A card without such a value still answers; one that is lost does not. */
const answers = (code: number) => code === 0 || code === NOT_SUPPORTED

function one(ask: (place: Pointer) => number): number {
  const value = new Uint32Array(1)
  return ask(ptr(value)) === 0 ? value[0]! : 0
}
