import { cancelTransfer } from '../../../src/compute/transfers/cancel.ts'
import { getTransfer } from '../../../src/compute/transfers/list.ts'
import { type Answers, page } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Action } from '../../components/action.tsx'
import { Head } from '../../components/head.tsx'
import { Icon } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { Live } from '../../components/live.tsx'
import { Copyable, Facts, Note, Section } from '../../components/section.tsx'
import { howLong, Moment } from '../../components/time.tsx'
import { bytes } from '../../components/words.ts'
import { downtime, duration, modeWords, type Transfer, TransferState } from './words.tsx'

export const transferPage = page({
  path: '/admin/transfers/{id}',
  reads: { transfer: getTransfer },
  title: ({ transfer }) => `Move of ${transfer.server.hostname}`,
  nav: 'transfers',
  view: ({ transfer }) => <TransferPage transfer={transfer} />,
})

function TransferPage({ transfer }: Answers<{ transfer: typeof getTransfer }>) {
  const ended = transfer.finishedAt !== null
  return (
    <Live id="transfer" every={ended ? undefined : 1}>
      <Head
        title={transfer.server.hostname}
        trail={[['Transfers', '/admin/transfers']]}
        state={<TransferState of={transfer} tag />}
        sub={<Route of={transfer} />}
        actions={<Actions of={transfer} />}
      />
      {!ended && <Running of={transfer} />}
      {transfer.error && (
        <Note level={transfer.state === 'cancelled' ? 'info' : 'bad'}>
          <strong>It stayed on {transfer.from.name}.</strong>
          <br />
          {transfer.error}
        </Note>
      )}
      <div class="split">
        <Progress of={transfer} />
        <Section id="fails" title="If it fails">
          <p>
            Until its home changes, the server stays on {transfer.from.name}, and nothing is left on {transfer.to.name}.
            After that it runs on {transfer.to.name}, and {transfer.from.name} is cleared.
          </p>
        </Section>
      </div>
    </Live>
  )
}

function Route({ of: { from, to, startedBy, createdAt } }: { of: Transfer }) {
  return (
    <>
      <span>
        {from.name} to {to.name}
      </span>
      <span>started by {startedBy.name}</span>
      <span>
        <Moment iso={createdAt} />
      </span>
    </>
  )
}

const Actions = ({ of: transfer }: { of: Transfer }) => (
  <>
    <Link class="btn" href={`/admin/servers/${transfer.server.id}`}>
      <Icon name="server" />
      Open server
    </Link>
    {transfer.cancellable && (
      <Action
        op={cancelTransfer}
        params={{ id: transfer.id }}
        label="Cancel move"
        icon="stop"
        done="The move is being cancelled."
        confirm={{
          consequences: [
            `The server runs on at ${transfer.from.name}.`,
            `What was copied to ${transfer.to.name} is deleted.`,
          ],
          keep: 'Go on moving',
        }}
      />
    )}
  </>
)

/** Always one line high. */
const Running = ({ of: { step, progress, secondsLeft } }: { of: Transfer }) => (
  <div class="job-bar on">
    <Icon name="refresh" />
    <span class="cut">
      <b>{step ?? 'Waiting for its turn'}</b>
      {secondsLeft !== null && ` · ${duration(secondsLeft)} left`}
    </span>
    <progress max={100} value={progress} aria-label="Progress">{`${progress} %`}</progress>
  </div>
)

function Progress({ of: transfer }: { of: Transfer }) {
  const { now } = useAt()
  const { bytesCopied, bytesTotal, bytesPerSecond, beganAt, finishedAt, jobId } = transfer
  const ended = finishedAt !== null
  return (
    <Section id="progress" title="Progress">
      <Facts
        of={[
          ['How', modeWords[transfer.mode]],
          [
            'Copied',
            transfer.mode !== 'reassigned' && `${bytes(bytesCopied)} of ${ended ? '' : 'at most '}${bytes(bytesTotal)}`,
          ],
          ['Rate', bytesPerSecond !== null && `${bytes(bytesPerSecond)} a second`],
          ['Limit', transfer.maxMbps !== null && `${transfer.maxMbps.toLocaleString('en')} Mbit/s`],
          [ended ? 'Downtime' : 'Downtime so far', transfer.downtimeMs !== null && downtime(transfer.downtimeMs)],
          [
            'Announced downtime',
            !!transfer.expectedDowntimeMs && `at most ${duration(transfer.expectedDowntimeMs / 1000)}`,
          ],
          [ended ? 'Took' : 'Running for', beganAt && howLong(beganAt, finishedAt, now)],
          ['Announced', !!transfer.expectedSeconds && `at most ${duration(transfer.expectedSeconds)}`],
          ['Log', jobId && <Link href={`/admin/jobs/${jobId}`}>Steps and log of its job</Link>],
          ['Id', <Copyable text={transfer.id} what="id of the transfer" />],
        ]}
      />
    </Section>
  )
}
