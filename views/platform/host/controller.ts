import { html } from '../../../src/kernel/web/html.ts'
import { page } from '../../../src/kernel/web/page.ts'
import { getPanelHost } from '../../../src/platform/host/panel-host.ts'
import { bytes, count } from '../../components/words.ts'
import { card, inside, kv, meter } from '../../html/card.ts'
import { head } from '../../html/head.ts'
import { live } from '../../html/live.ts'
import { span, time } from '../../html/time.ts'

export const controllerPage = page({
  path: '/admin/controller',
  reads: { host: getPanelHost },
  title: 'Controller host',
  nav: 'controller',
  view: ({ host: h, at }) => html`
    ${head({ title: 'Controller host', sub: 'The machine that Berth itself runs on.' })}
    ${live(
      at,
      'host',
      10,
      html`<div class="cols">
      ${card(
        { id: 'use', title: 'Use' },
        inside(html`
        ${meter('CPU', h.cpuPercent, 100, `${h.cpuPercent} % of ${count(h.cpus, 'CPU')}`)}
        ${meter('Memory', h.memory.percent, 100, `${bytes(h.memory.usedBytes)} of ${bytes(h.memory.totalBytes)}, ${h.memory.percent} %`)}
        ${h.swap.totalBytes > 0 && meter('Swap', h.swap.usedBytes, h.swap.totalBytes, `${bytes(h.swap.usedBytes)} of ${bytes(h.swap.totalBytes)}`)}
        ${meter('Disk holding the database', h.disk.percent, 100, `${bytes(h.disk.usedBytes)} of ${bytes(h.disk.totalBytes)}, ${h.disk.percent} %`)}`),
      )}
      ${card(
        { id: 'details', title: 'Details' },
        inside(
          kv([
            ['Load', `${[h.load1, h.load5, h.load15].map((n) => n.toFixed(2)).join(' · ')} over 1, 5 and 15 min`],
            ['Memory available', bytes(h.memory.availableBytes)],
            ['Swap', h.swap.totalBytes === 0 && 'None'],
            ['Database', html`${bytes(h.databaseBytes)} in <code>${h.disk.path}</code>`],
            ['Host is up for', span(h.hostUptimeSeconds * 1000)],
            ['Berth started', time(h.startedAt, at)],
            ['Memory of Berth', bytes(h.processMemoryBytes)],
            ['Version', h.version],
          ]),
        ),
      )}
      </div><p class="muted"><small>Checked ${time(h.checkedAt, at)}; again every 10 seconds.</small></p>`,
    )}`,
})
