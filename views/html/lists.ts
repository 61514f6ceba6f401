import { h } from 'preact'
import type { Html } from '../../src/kernel/web/html.ts'
import type { At } from '../../src/kernel/web/page.ts'
import type { Area } from '../components/area.ts'
import { ServerTable, type Shown } from '../compute/servers/table.tsx'
import { Announcements } from '../platform/announcements/banner.tsx'
import { type Job, JobTable } from '../platform/jobs/table.tsx'

type Servers = Parameters<typeof ServerTable>[0]['servers']
export const serverTable = (servers: Servers, area: Area, shown: Shown = {}): Html =>
  h(ServerTable, { servers, area, ...shown })
export const jobTable = (
  jobs: readonly Job[],
  _at: At,
  area: Area,
  shown: { server?: boolean; node?: boolean } = {},
): Html => h(JobTable, { jobs, area, ...shown })
export const announced = (of: Parameters<typeof Announcements>[0]['of']): Html => h(Announcements, { of })
