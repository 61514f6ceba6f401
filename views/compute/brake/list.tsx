// The destructions that one account asked for and that a second person decides.

import { destructionsInWords } from '../../../src/compute/brake/brake.ts'
import { listBrakes, refuseBrake, releaseBrake } from '../../../src/compute/brake/cases.ts'
import { pageOf } from '../../../src/compute/gpu-instances/model.ts'
import { type Answers, page } from '../../../src/kernel/web/page.ts'
import { Action } from '../../components/action.tsx'
import { Head } from '../../components/head.tsx'
import { Link } from '../../components/link.tsx'
import { List } from '../../components/list.tsx'
import { Empty, Section } from '../../components/section.tsx'
import { Table } from '../../components/table.tsx'
import { Exact, Time } from '../../components/time.tsx'
import { count } from '../../components/words.ts'

const reads = { brakes: listBrakes }
type Case = Answers<typeof reads>['brakes']['data'][number]

export const brakesPage = page({
  path: '/admin/brakes',
  reads,
  title: 'Approvals',
  nav: 'brakes',
  view: ({ brakes }) => (
    <>
      <Head
        title="Approvals"
        sub={
          <p>
            When one account asks for more {destructionsInWords} in an hour than Settings allow, the rest are accepted
            but held: nothing is destroyed until a second person releases them.
          </p>
        }
      />
      <List
        of={brakes}
        noun="case"
        every={10}
        empty={<Empty title="Nothing is waiting">Requests above the limit wait here for a second person.</Empty>}
      >
        {brakes.data.map((one) => (
          <Held of={one} />
        ))}
      </List>
    </>
  ),
})

const words: Record<Case['held'][number]['kind'], string> = {
  terminate: 'Terminated',
  reinstall: 'Reinstall',
  restore: 'Restore',
  delete_volume: 'Delete volume',
  delete_backup: 'Delete backup',
  forget_backup: 'Forget backup',
  lose_volume: 'Lose volume with its node',
  give_up_window: 'End undelete window',
  lose: 'Node lost',
}

const pageOfWorkload = ({ id, kind }: { id: string; kind: string }) =>
  kind === 'server' ? `/admin/servers/${id}` : pageOf('/admin', id)

const Held = ({ of: one }: { of: Case }) => (
  <Section
    id={one.id}
    title={one.actor.name}
    count={one.decision ? `${one.decision} by ${one.decidedBy}` : `${one.waiting} waiting`}
    words={
      <>
        Since <Exact iso={one.openedAt} />
        {one.decidedAt && (
          <>
            , decided <Time iso={one.decidedAt} />
          </>
        )}
        . {count(one.count, 'destruction was held.', 'destructions were held.')}
      </>
    }
    actions={!one.decision && <Decide of={one} />}
    flush
  >
    {one.held.length > 0 && (
      <Table
        label={`Held for ${one.actor.name}`}
        rows={one.held}
        idOf={(held) => held.id}
        columns={[
          {
            title: 'Name',
            kind: 'name',
            width: 40,
            cell: ({ id, name, workload }) => (
              <Link href={pageOfWorkload(workload)}>
                {id === workload.id ? name : `${name} (${workload.hostname})`}
              </Link>
            ),
          },
          { title: 'What', kind: 'state', width: 20, cell: (held) => words[held.kind] },
          {
            title: 'Owner',
            kind: 'a',
            width: 20,
            cell: (held) => <Link href={`/admin/customers/${held.owner.id}`}>{held.owner.name}</Link>,
          },
          { title: 'Time', kind: 'b', width: 20, cell: (held) => <Time iso={held.at} /> },
        ]}
      />
    )}
  </Section>
)

function Decide({ of: one }: { of: Case }) {
  const disabledReason = one.own && 'You asked for it yourself. Another member of staff decides.'
  return (
    <>
      <Action
        op={refuseBrake}
        params={{ id: one.id }}
        label="Refuse"
        of={`what ${one.actor.name} asked for`}
        title={`Refuse what ${one.actor.name} asked for?`}
        disabledReason={disabledReason}
        done="{settled} refused, {waiting} still wait"
        confirm={{
          consequences: [
            'Terminated servers are brought back as they were; their owners and billing are told.',
            'Reinstallations and restores that wait are cancelled; volumes, backups and their targets stay.',
            'Undelete windows that were to end at once go on.',
          ],
        }}
      />
      <Action
        op={releaseBrake}
        params={{ id: one.id }}
        label="Release"
        of={`what ${one.actor.name} asked for`}
        tone="bad"
        title={`Release what ${one.actor.name} asked for?`}
        disabledReason={disabledReason}
        done="{settled} released"
        confirm={{
          type: one.actor.name,
          keep: 'Keep it held',
          consequences: [
            `${count(one.waiting, 'destruction goes', 'destructions go')} on.`,
            'Disks are deleted when their undelete window ends, and at once where it has ended.',
            'Volumes and backups are deleted at once; reinstallations and restores begin.',
          ],
        }}
      />
    </>
  )
}
