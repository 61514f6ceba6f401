// The restore drill: the last restore that worked, and why there was none last night.
import type { getDrills } from '../../../src/compute/backups/drills/night.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { Link } from '../../components/link.tsx'
import { Facts, Section } from '../../components/section.tsx'
import { span, Time } from '../../components/time.tsx'

type Drills = Answers<{ drills: typeof getDrills }>['drills']

export const DrillsOf = ({ of: { on, hour, runningJobId, lastProven, skipped } }: { of: Drills }) => (
  <Section
    id="drills"
    title="Restore drill"
    words={
      on
        ? `Each night from ${hour}:00 UTC on, one backup is restored without network, and its system has to answer.`
        : 'It is switched off under Settings. Staff can run a drill for a single backup on the page of its server.'
    }
  >
    <Facts
      of={[
        [
          'Last proven restore',
          lastProven ? (
            <>
              <Time iso={lastProven.at} />,{' '}
              <Link href={`/admin/servers/${lastProven.serverId}`}>{lastProven.serverName}</Link>
              {lastProven.seconds !== null && `, after ${span(lastProven.seconds * 1000)}`}
            </>
          ) : (
            'None yet'
          ),
        ],
        [
          'Now',
          runningJobId && (
            <Link to="/admin/jobs/{jobId}" params={{ jobId: runningJobId }}>
              A drill is under way
            </Link>
          ),
        ],
        ['Last night', on && skipped && `Left out: ${skipped.reason}`],
      ]}
    />
  </Section>
)
