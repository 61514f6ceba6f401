// The file by which containers get cards: less than what NVIDIA's toolkit writes.
import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cdiName, namedIn, ownSpec, writeCdi } from '../../../agent/drivers/gpu/cdi.ts'
import { generated, HOOK, mount } from './generated.ts'
import { OTHER_UUID, UUID } from './report.ts'

const dir = mkdtempSync(join(tmpdir(), 'berth-cdi-'))
afterAll(() => rmSync(dir, { recursive: true }))

describe('the file of cards for containers', () => {
  const own = ownSpec(generated, [UUID])
  test('names single cards by their UUID, under a kind of its own', () => {
    expect([own.kind, own.devices.map(({ name }) => name)]).toEqual(['berth.node/gpu', [UUID]])
    expect(cdiName(UUID)).toBe(`berth.node/gpu=${UUID}`)
  })
  test('gives a card’s own device and those that all programs need, open to a mapped user, without mknod', () => {
    const node = { fileMode: 0o666, permissions: 'rw' }
    expect(own.devices[0]!.containerEdits).toEqual({ deviceNodes: [{ path: '/dev/nvidia0', ...node }] })
    expect(own.containerEdits!.deviceNodes).toEqual([
      { path: '/dev/nvidiactl', ...node },
      { path: '/dev/nvidia-uvm', hostPath: '/driver/dev/nvidia-uvm', ...node },
      { path: '/dev/nvidia-uvm-tools', ...node },
    ])
  })
  test('keeps the hooks for libraries of the toolkit’s own program', () => {
    expect(own.containerEdits!.hooks!.map(({ path, args }) => [path, args![1]])).toEqual([
      [HOOK, 'create-symlinks'],
      [HOOK, 'update-ldcache'],
      [HOOK, 'enable-cuda-compat'],
    ])
  })
  test('mounts libraries and programs to be read alone, and no socket of the host', () => {
    expect(own.containerEdits!.mounts).toEqual([
      mount('/usr/lib/libcuda.so.570.133.20', 'ro', 'nosuid', 'nodev', 'rbind', 'rprivate'),
      mount('/usr/bin/nvidia-smi', 'ro', 'nosuid', 'nodev', 'bind'),
    ])
  })
  test('has a version that Podman 4.3 reads, and no field beside those', () => {
    expect(own.cdiVersion).toBe('0.5.0')
    expect(JSON.stringify(own)).not.toMatch(/additionalGids|"gid"|\/dev\/dri|nvswitch|modeset/)
  })
  test('is put in place in one step, is open to all, and is left alone while nothing changes', () => {
    const place = join(dir, 'cdi')
    expect(writeCdi(own, place)).toBe(true)
    expect(writeCdi(own, place)).toBe(false)
    expect(readdirSync(place)).toEqual(['berth-gpu.json'])
    expect(statSync(join(place, 'berth-gpu.json')).mode & 0o777).toBe(0o644)
    expect(namedIn(place)).toEqual([UUID])
  })
  test('loses a card that broke, and goes with the last', () => {
    const place = join(dir, 'cdi')
    expect(writeCdi(ownSpec(generated, [UUID, OTHER_UUID]), place)).toBe(true)
    expect(namedIn(place)).toEqual([UUID, OTHER_UUID])
    expect(writeCdi(ownSpec(generated, [OTHER_UUID]), place)).toBe(true)
    expect(namedIn(place)).toEqual([OTHER_UUID])
    expect(writeCdi(ownSpec(generated, []), place)).toBe(true)
    expect([namedIn(place), readdirSync(place), writeCdi(ownSpec(generated, []), place)]).toEqual([[], [], false])
  })
})
