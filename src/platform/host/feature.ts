import { OBSERVED_EVERY_MS } from '../../../agent/protocol/monotonic-clock.ts'
import { minute } from '../../kernel/db/clock.ts'
import { write } from '../../kernel/db/open.ts'
import { LAST_TIME, putSetting } from '../../kernel/db/queries.ts'
import { feature } from '../../kernel/feature.ts'
import { log } from '../../kernel/log.ts'
import { certificateEnds, clockSet, fullHost, setBy, unwritableDatabase } from './attention.ts'
import { certificateEnd, HostFigures, thisHost } from './figures.ts'
import { getPanelHost } from './panel-host.ts'
import { getStatus } from './status.ts'

declare module '../../kernel/register.ts' {
  interface Services {
    /** The machine under the controller. */
    host: HostFigures
  }
}

export const hostFeature = feature({
  name: 'host',
  operations: [getStatus, getPanelHost],
  attention: [unwritableDatabase, fullHost, clockSet, certificateEnds],
  schedule: [
    {
      everyMs: OBSERVED_EVERY_MS,
      words: "comparing the host's clock",
      work({ app: { time } }) {
        const jump = time.observe()
        if (jump) log.warning(`the clock of this host was set ${setBy(jump.byMs)}`, jump)
      },
    },
    {
      everyMs: minute,
      words: 'noting the time',
      work: ({ db, app }) => write(db, (tx) => putSetting(tx, LAST_TIME, app.clock())),
    },
  ],
  services: ({ config }) => ({
    host: new HostFigures(thisHost, config.dataDir, config.tls && certificateEnd(config.tls.cert)),
  }),
  nav: [
    {
      kinds: ['staff'],
      group: 'Platform',
      position: 300,
      name: 'controller',
      title: 'Controller host',
      href: '/admin/controller',
      icon: 'host',
      sees: getPanelHost,
    },
  ],
})
