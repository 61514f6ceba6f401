import { nameOfMonth } from '../../billing/usage/month.tsx'
import { Meter } from '../../components/figures.tsx'
import { Link } from '../../components/link.tsx'
import { Section } from '../../components/section.tsx'
import { traffic, usedTraffic } from '../../components/words.ts'
import type { NetworkData } from '../../compute/servers/network/reads.ts'

export function Traffic({ bandwidth: b, area }: NetworkData) {
  return (
    <Section id="traffic-now" title="Traffic" actions={<Link href={`${area}/usage`}>Usage</Link>}>
      {b.allowanceGb === null || b.percent === null ? (
        <p>
          {usedTraffic(b.usedBytes)} in {nameOfMonth(b.month)}, both directions together. Not limited.
        </p>
      ) : (
        <Meter
          label={`${nameOfMonth(b.month)}, both directions together`}
          value={b.percent}
          total={100}
          words={`${usedTraffic(b.usedBytes)} of ${traffic(b.allowanceGb + b.addedGb)}`}
        />
      )}
    </Section>
  )
}
