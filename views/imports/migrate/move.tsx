// On the page of one server of an import: where it runs now, every command at its source, and the steps of its job.
import { listNodes } from '../../../src/fleet/nodes/nodes.ts'
import { getMove } from '../../../src/imports/migrate/list.ts'
import { type Answers, ifNamed } from '../../../src/kernel/web/page.ts'
import { getJob, getJobLog } from '../../../src/platform/jobs/jobs.ts'
import { Icon } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { Live } from '../../components/live.tsx'
import { Facts, Note, Section } from '../../components/section.tsx'
import { Moment } from '../../components/time.tsx'
import { bytes } from '../../components/words.ts'
import { duration } from '../../compute/transfers/words.tsx'
import { JobLog } from '../../platform/jobs/log.tsx'
import { Steps } from '../../platform/jobs/steps.tsx'
import type { Import } from '../imports/words.tsx'
import type { SourceServer } from '../mapping/servers.tsx'
import { CancelMove, mayRetry, Retry } from './retry.tsx'
import { copyWords, downtimeWords, type Move, runsWords } from './words.tsx'

type Before = { server: SourceServer; moving: { move: Move | null } | undefined }
const lastJob = (_: unknown, { moving }: Before) =>
  moving?.move?.jobId ? { params: { jobId: moving.move.jobId } } : undefined
/** The nodes of its location, where a copy can be tried again on another one. */
const otherNodes = (_: unknown, { server: { goesTo }, moving }: Before) =>
  moving?.move && mayRetry(moving.move) && moving.move.way === 'copy' && goesTo
    ? { query: { locationId: goesTo.id, limit: '200' } }
    : undefined
export const moveReads = {
  moving: ifNamed(getMove, (_, { server }: Before) => ({ params: { id: server.id } })),
  job: ifNamed(getJob, lastJob),
  log: ifNamed(getJobLog, lastJob),
  nodes: ifNamed(listNodes, otherNodes),
}
type Of = { move: Move } & Omit<Answers<typeof moveReads>, 'moving'>

const isAtWork = ({ state }: Move) => state === 'moving' || state === 'rolling_back'

export const MoveActions = ({ of, move, nodes }: { of: Import } & Pick<Of, 'move' | 'nodes'>) => (
  <>
    {move.workloadId && move.whereItRuns === 'here' && (
      <Link class="btn" href={`/admin/servers/${move.workloadId}`}>
        <Icon name="server" />
        Open server
      </Link>
    )}
    <Retry of={of} move={move} nodes={nodes?.data} />
    <CancelMove of={of} move={move} />
    {move.state === 'moved' && of.actions.includes('roll-back') && (
      <Link class="btn" to="/admin/import-servers/{id}/roll-back" params={{ id: move.serverId }}>
        <Icon name="restart" />
        Roll back
      </Link>
    )}
  </>
)

/** While it is at work one line with its step; otherwise where it runs, and after a failure why and what to do. */
export function MoveBar({ move, job }: Of) {
  const runs = `${move.hostname} ${runsWords(move)}.`
  return (
    <Live id="move" every={isAtWork(move) || move.state === 'waiting' ? 1 : undefined}>
      {isAtWork(move) ? (
        <div class="job-bar on">
          <Icon name="refresh" />
          <span class="cut">
            <b>
              {job?.step.name ? `Step ${job.step.n} of ${job.step.of} · ${job.step.name}` : (move.phase ?? 'Waiting')}
            </b>
            {[copyWords(move), `it ${runsWords(move)}`, move.downtimeMs !== null && `off for ${downtimeWords(move)}`]
              .filter(Boolean)
              .map((words) => ` · ${words}`)}
          </span>
          <progress max={100} value={move.percent ?? 0} aria-label="Progress">{`${move.percent ?? 0} %`}</progress>
        </div>
      ) : (
        <Note level={move.failure ? 'bad' : 'info'}>
          <span role="status">
            <strong>{runs}</strong>
            {move.state === 'waiting' && ' It begins when the limits of the import let it.'}
            {move.failure && ` ${move.failure.words} ${move.failure.nextStep}`}
          </span>
        </Note>
      )}
    </Live>
  )
}

export const MoveLog = ({ move, log }: Of) =>
  move.jobId && log ? <JobLog jobId={move.jobId} lines={log.lines} ended={!isAtWork(move)} /> : null

export const MoveSide = ({ move, job }: Of) => (
  <Live id="move-steps" every={isAtWork(move) ? 2 : undefined} class="">
    {job && <Steps job={job} ended={!isAtWork(move)} />}
    {move.state === 'moving' && job?.pointOfNoReturn !== 'passed' && (
      <Section id="fails" title="If something fails now">
        <div class="tip">
          <Icon name="history" />
          <span>
            <b>{move.whereItRuns === 'source' ? 'It runs on at the source.' : 'It starts again at the source'}</b>
            {move.whereItRuns !== 'source' && ' from the definition that was kept there.'} Nothing there has been
            changed or deleted.
          </span>
        </div>
      </Section>
    )}
    <Section id="its-move" title="Its move">
      <Facts
        of={[
          ['Now', move.hostname && `It ${runsWords(move)}`],
          ['Goes to', move.node && <Link href={`/admin/nodes/${move.node.id}`}>{move.node.name}</Link>],
          [
            'Way',
            move.way === 'adopt' ? 'Adopted in place' : move.method === 'plain' ? 'Copied while off' : 'Short stop',
          ],
          ['System', move.osName],
          ['Copied', move.bytesCopied !== null && bytes(move.bytesCopied)],
          ['Downtime', move.downtimeMs !== null && downtimeWords(move)],
          ['Announced', move.expectedAwaySeconds !== null && `about ${duration(move.expectedAwaySeconds)}`],
          ['Began', move.beganAt && <Moment iso={move.beganAt} />],
          ['Shut down there', move.stoppedAt && <Moment iso={move.stoppedAt} />],
          ['Started here', move.startedAt && <Moment iso={move.startedAt} />],
          [
            'Jobs',
            move.jobIds.length > 0 &&
              move.jobIds.map((jobId, i) => (
                <>
                  {i > 0 && ', '}
                  <Link href={`/admin/jobs/${jobId}`}>{`attempt ${i + 1}`}</Link>
                </>
              )),
          ],
        ]}
      />
    </Section>
  </Live>
)
