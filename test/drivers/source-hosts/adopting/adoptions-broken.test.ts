// An adoption that a kill of the agent, the other panel, or a missing disk breaks off.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { noSourceLab } from '../../../support/source-hypervisors/lab.ts'
import { note } from '../../tools.ts'
import { adopted, readyPersistent, readyServer } from './adoptions-contract.ts'
import { type AdoptionsLab, adoptionsLab } from './adoptions-lab.ts'

describe.skipIf(note(await noSourceLab(), 'adopting servers of another panel'))(
  'an adoption that is broken off',
  () => {
    let lab: AdoptionsLab
    beforeAll(async () => {
      lab = await adoptionsLab('ab')
    }, 60_000)
    afterAll(async () => {
      await lab?.end()
    })

    test('kill -9 of the agent: the same commands again finish it, and the domain is as before', async () => {
      const { at, definitionOf, host, info, rig } = lab
      const { adopt, domain, giveBack, one, seen } = await readyServer(rig, 'persistent')
      await host.virsh('autostart', domain)
      const [before, xml, content] = [await info(domain), await definitionOf(domain), await rig.content(one)]
      const killed = async (word: string, moment: 'before' | 'after', work: () => Promise<unknown>) => {
        const pid = await lab.pidOfNode()
        const kill = `kill -9 ${pid}; exit 1`
        await at(word, moment === 'before' ? kill : `/usr/bin/virsh "$@"; ${kill}`)
        await expect(work()).rejects.toThrow('has ended')
        lab.startNode()
      }
      const moments = ['before', 'after'] as const
      for (const moment of moments) {
        // Its definition is asked for before anything is done.
        await killed('dominfo', moment, adopt)
        expect(await seen()).toEqual(readyPersistent)
        await killed('undefine', moment, adopt)
        expect(await seen()).toEqual({ ...adopted, state: moment === 'before' ? 'off' : 'absent' })
        await adopt()
        expect([await seen(), await rig.content(one)]).toEqual([adopted, content])
        await killed('define', moment, giveBack)
        expect(await seen()).toEqual({ ...readyPersistent, state: moment === 'before' ? 'absent' : 'off' })
        await giveBack()
        expect([await seen(), await rig.content(one)]).toEqual([readyPersistent, content])
        expect([await info(domain), await definitionOf(domain)]).toEqual([before, xml])
      }
      // A note of an adoption that went no further.
      const note = join(host.dir, 'agent/adoptions', `${one.volume.workload}-0.json`)
      await adopt()
      await host.must('cp', note, join(host.dir, 'note'))
      await giveBack()
      for (const work of [giveBack, adopt]) {
        await host.must('cp', join(host.dir, 'note'), note)
        await work()
      }
      expect(await seen()).toEqual(adopted)
      await giveBack()
      expect([await info(domain), await definitionOf(domain), await seen()]).toEqual([before, xml, readyPersistent])
    }, 60_000)

    test('a server that the other panel starts meanwhile keeps its disk, and stays defined', async () => {
      const { at, host, info, rig } = lab
      const { adopt, domain, giveBack, one, seen } = await readyServer(rig, 'persistent')
      const before = await info(domain)
      await at('dominfo', `/usr/bin/virsh "$@"; /usr/bin/virsh start ${domain} >&2; exit 0`)
      expect(await adopt().catch((error) => error)).toMatchObject({ code: 'source_started' })
      expect(await seen()).toEqual({ ...readyPersistent, state: 'running' })
      expect(await info(domain)).toEqual(before)
      await giveBack()
      expect(await seen()).toEqual({ ...readyPersistent, state: 'running' })
      await host.virsh('destroy', domain)
      await adopt()
      // The domain of an adopted server cannot be started.
      expect((await host.run('/usr/bin/virsh', '-c', 'qemu:///system', 'start', domain)).code).not.toBe(0)
      expect(await rig.isAtSource(one)).toBe(false)
    })

    test('a disk that is gone, or on another file system, or taken again: nothing is done', async () => {
      const code = (work: Promise<unknown>) => work.then(String, (error) => error.code)
      const { definitionOf, exists, host, pathOf, rig, server } = lab
      const gone = await readyServer(rig, 'persistent')
      await host.must('mv', gone.drive.path, `${gone.drive.path}.away`)
      expect(await code(gone.adopt())).toBe('no_volume')
      await gone.giveBack()
      expect(await gone.seen()).toEqual({ isAtSource: false, isVolume: false, state: 'off' })
      await host.must('mv', `${gone.drive.path}.away`, gone.drive.path)
      await gone.adopt()
      // Somebody makes a disk where it was.
      await host.must('cp', pathOf(gone.one), gone.drive.path)
      const content = await host.must('sha256sum', gone.drive.path, pathOf(gone.one))
      for (const work of [gone.adopt, gone.giveBack]) expect(await code(work())).toBe('volume_differs')
      expect(await host.must('sha256sum', gone.drive.path, pathOf(gone.one))).toBe(content)

      const elsewhere = await readyServer(
        { ...rig, server: (kind) => server(kind, '/var/lib/libvirt/images') },
        'persistent',
      )
      const before = await definitionOf(elsewhere.domain)
      expect(await code(elsewhere.adopt())).toBe('source_disk_elsewhere')
      expect([await elsewhere.seen(), await definitionOf(elsewhere.domain)]).toEqual([readyPersistent, before])
      expect(await exists(join(host.dir, 'agent/adoptions', `${elsewhere.volume.workload}-0.json`))).toBe(false)
    })
  },
)
