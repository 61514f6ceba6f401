// The host of the controller: load, memory, disk and uptime.
import { Type as t } from 'typebox'
import { operation, time } from '../../kernel/api/operation.ts'
import { iso, second } from '../../kernel/db/clock.ts'
import { VERSION } from '../../kernel/version.ts'

/** From these percentages on the host is listed under Needs attention. */
export const DISK_SHOWN_PERCENT = 85
export const MEMORY_SHOWN_PERCENT = 90

const percent = t.Integer({ minimum: 0, maximum: 100 })

export const getPanelHost = operation({
  id: 'host.get',
  method: 'GET',
  path: '/admin/panel-host',
  summary: 'The host of the controller: CPU, memory, the disk holding the database, uptime, version',
  access: { staff: ['nodes:read'] },
  response: t.Object({
    checkedAt: time,
    cpus: t.Integer(),
    cpuPercent: percent,
    load1: t.Number(),
    load5: t.Number(),
    load15: t.Number(),
    memory: t.Object({ totalBytes: t.Integer(), usedBytes: t.Integer(), availableBytes: t.Integer(), percent }),
    swap: t.Object({ totalBytes: t.Integer(), usedBytes: t.Integer() }),
    disk: t.Object({ path: t.String(), totalBytes: t.Integer(), usedBytes: t.Integer(), percent }),
    databaseBytes: t.Integer(),
    hostUptimeSeconds: t.Integer(),
    version: t.String(),
    startedAt: time,
    uptimeSeconds: t.Integer(),
    processMemoryBytes: t.Integer(),
  }),
  run({ host, clock, startedAt }) {
    const [load1, load5, load15] = host.load()
    return {
      checkedAt: iso(clock()),
      ...host.cpu(),
      load1,
      load5,
      load15,
      ...host.memory(),
      disk: host.disk(),
      databaseBytes: host.databaseBytes(),
      hostUptimeSeconds: host.uptimeSeconds(),
      version: VERSION,
      startedAt: iso(startedAt),
      uptimeSeconds: Math.floor((clock() - startedAt) / second),
      processMemoryBytes: host.source.ownBytes(),
    }
  },
})
