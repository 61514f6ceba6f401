// install.sh --gpu: what it says to wrong use.
import { expect, test } from 'bun:test'
import { checkout, spawn } from './clean-machine.ts'

test('install.sh --gpu is for nodes', async () => {
  const { code, err } = await spawn([`${checkout}/install.sh`, '--controller', '--gpu'])
  expect([code, err]).toEqual([2, expect.stringContaining('--gpu is for a node')])
})
