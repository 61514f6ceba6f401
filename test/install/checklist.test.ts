// The README alone on a clean machine: install.sh without a first server, then a browser. The checklist leads from its
// first page to a server that answers SSH with the password that was shown.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { launch, open } from '../support/browser.ts'
import { CleanMachine, type Ended, possible, spawn } from './clean-machine.ts'
import { sellFirstServer } from './first-sale.ts'

setDefaultTimeout(600_000)
const guestImage = process.env['BERTH_GUEST_IMAGE']
const canRun = possible && guestImage !== undefined && Bun.which('sshpass') !== null
if (!canRun)
  console.error('left out: the checklist on a clean machine (needs a clean root, BERTH_GUEST_IMAGE, sshpass)')

/** An Ubuntu as far as install.sh looks: its name over Debian's packages. */
const ubuntu = (version: string) =>
  `sed -i 's/^ID=.*/ID=ubuntu/; s/^VERSION_ID=.*/VERSION_ID="${version}"/; ` +
  `s/^PRETTY_NAME=.*/PRETTY_NAME="Ubuntu ${version}"/' /etc/os-release`
const machines: [name: string, suite: string, first?: string][] = [
  ['Debian 12', 'bookworm'],
  ['Debian 13', 'trixie'],
  ['Ubuntu 24.04, which it is called', 'trixie', ubuntu('24.04')],
]

describe.skipIf(!canRun).each(process.env['BERTH_LONG'] ? machines : machines.slice(1, 2))(
  'the checklist on a clean %s',
  (name, suite, first) => {
    let machine: CleanMachine
    let installed: Ended
    let browser: Browser
    const figures: string[] = []
    const since = (began: number) => `${((performance.now() - began) / 1000).toFixed(1)} s`

    beforeAll(async () => {
      browser = await launch()
      machine = await CleanMachine.make(suite, 200)
      await machine.bringCheckout()
      if (first !== undefined) await machine.must(first)
      const began = performance.now()
      installed = await machine.install('--all-in-one --no-first-guest')
      figures.push(`install ${since(began)}, ${machine.cpuSeconds().toFixed(0)} CPU s`)
    })
    afterAll(async () => {
      await browser?.close()
      await machine?.remove()
      console.log(`${name}: ${figures.join(', ')}`)
    })

    test('leads from the address that was printed to a server that takes its password over SSH', async () => {
      expect([installed.code, installed.err]).toEqual([0, ''])
      const [panel, email, password] = ['Panel', 'Staff sign-in', 'Password'].map(
        (word) => new RegExp(`^  ${word} +(\\S+)`, 'm').exec(installed.out)?.[1] ?? '',
      )
      const incoming = join(machine.dir, 'root/var/lib/berth/incoming')
      mkdirSync(incoming, { recursive: true })
      copyFileSync(guestImage!, join(incoming, 'tiny.qcow2'))
      const { page, context } = await open(browser, undefined, panel!)
      page.setDefaultTimeout(30_000)
      const cpuBefore = machine.cpuSeconds()
      const began = performance.now()
      const sold = await sellFirstServer(page, { email: email!, password: password!, image: 'tiny.qcow2' })
      await context.close()
      expect(sold.steps).toEqual(['Address pool', 'Image', 'Package', 'First customer'])
      figures.push(`checklist to order ${since(began)}`)
      const login = ['-e', 'ssh', '-o', 'StrictHostKeyChecking=no', '-o', 'UserKnownHostsFile=/dev/null']
      const options = ['-o', 'LogLevel=ERROR', '-o', 'ConnectTimeout=2', 'root@10.88.0.10', 'hostname']
      let answer: Ended
      const end = Date.now() + 240_000
      do answer = await machine.inNetwork('env', `SSHPASS=${sold.password}`, 'sshpass', ...login, ...options)
      while (answer.code !== 0 && Date.now() < end)
      expect([answer.out.trim(), answer.code]).toEqual(['web01', 0])
      figures.push(`order to SSH ${since(sold.began)}, ${(machine.cpuSeconds() - cpuBefore).toFixed(0)} CPU s`)
      const { out } = await spawn(['curl', '-fsS', `${panel}/api/v1/status`])
      expect(JSON.parse(out).status).toBe('ok')
    })
  },
)
