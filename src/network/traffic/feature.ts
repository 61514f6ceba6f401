import { minute } from '../../kernel/db/clock.ts'
import { feature } from '../../kernel/feature.ts'
import { noteShares, startAllowanceOf } from './allowance.ts'
import { heaviestTraffic } from './heaviest.ts'
import { settleTraffic } from './limits.ts'
import { trafficNotices } from './notices.ts'
import { takeTraffic } from './take.ts'
import { addBandwidth, getBandwidth } from './top-up.ts'

const errors = {
  traffic_not_limited: {
    status: 409,
    when: 'The package of the server does not limit its traffic: there is nothing to add to.',
    remedy: 'Sell no traffic for this package.',
  },
} as const

declare module '../../kernel/register.ts' {
  interface Names {
    traffic: { errors: typeof errors; notices: typeof trafficNotices }
  }
}

/** The traffic of workloads: taking in what nodes report, and what becomes of a server that uses more than it may. */
export const trafficFeature = feature({
  name: 'traffic',
  errors,
  takeTraffic(tx, day, now) {
    takeTraffic(tx, day, now)
    noteShares(tx, day, now)
  },
  onEvent(tx, _app, { type, subjectId, createdAt }) {
    if (type === 'server.resized') startAllowanceOf(tx, subjectId, createdAt)
  },
  schedule: [
    { everyMs: minute, words: 'acting on the traffic of servers', work: ({ db, app }) => settleTraffic(db, app) },
  ],
  notices: trafficNotices,
  operations: [getBandwidth, addBandwidth, heaviestTraffic],
  nav: [
    {
      kinds: ['staff'],
      group: 'Infrastructure',
      position: 246,
      name: 'traffic',
      title: 'Traffic',
      href: '/admin/traffic',
      icon: 'activity',
      within: 'pools',
      sees: heaviestTraffic,
    },
  ],
})
