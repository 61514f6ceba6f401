import { feature } from '../../kernel/feature.ts'
import { settingValue, wholeSetting } from '../../kernel/setting.ts'
import { Releases } from './releases.ts'

const sendMbps = wholeSetting({
  name: 'releases.send_mbps',
  title: 'Speed of releases',
  words: 'The controller sends releases to agents no faster than this, all of them together.',
  weakens: 'never',
  default: 200,
  minimum: 1,
  maximum: 100_000,
  unit: 'Mbit/s',
})

declare module '../../kernel/register.ts' {
  interface Services {
    /** The releases that agents are brought to. */
    releases: Releases
  }
}

export const releasesFeature = feature({
  name: 'releases',
  settings: [sendMbps],
  services: ({ db, clock, config: { dataDir, agentDir } }) => ({
    releases: new Releases({ dataDir, agentDir, clock, mbps: () => settingValue(db, sendMbps) }),
  }),
})
