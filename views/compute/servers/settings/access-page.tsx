// Ways into a server: its passwords, who shares it, and the rescue system for when none of them works.
import { rescueOptions } from '../../../../src/compute/rescue/boot.ts'
import { inviteMember } from '../../../../src/identity/team/invite.ts'
import { type Answers, type At, ifNamed } from '../../../../src/kernel/web/page.ts'
import { useAt } from '../../../../src/kernel/web/page-context.ts'
import { Action } from '../../../components/action.tsx'
import { type Area, inEveryArea, movedInEveryArea } from '../../../components/area.ts'
import { Link } from '../../../components/link.tsx'
import { Beside } from '../../../components/live.tsx'
import { Section } from '../../../components/section.tsx'
import { InviteFields } from '../../../identity/team/fields.tsx'
import { Rescue } from '../../rescue/of-server.tsx'
import { Setting } from '../../workloads/settings-entry.tsx'
import { ServerFrame, serverReads } from '../frame.tsx'
import { Connection } from '../overview/connect.tsx'
import type { Server } from '../words.ts'
import { RootPassword } from './new-password.tsx'

const reads = {
  ...serverReads,
  rescue: ifNamed(rescueOptions, ({ params }: At, { server }: { server: Server }) =>
    server.status === 'terminated' ? undefined : { params },
  ),
}
type InArea = Answers<typeof reads> & { area: Area }

export const serverAccessPages = [
  ...inEveryArea({
    path: '/servers/{id}/access',
    reads,
    title: ({ server }) => `Access to ${server.name}`,
    nav: 'servers',
    view: (data, area) => (
      <ServerFrame {...data} area={area}>
        <Beside of="server" id="access-now">
          {data.server.status === 'terminated' ? (
            <p class="in muted">A terminated server cannot be reached, and cannot boot a rescue system.</p>
          ) : (
            <Access {...data} area={area} />
          )}
        </Beside>
      </ServerFrame>
    ),
  }),
  ...movedInEveryArea('/servers/{id}/rescue', ({ params }) => `/servers/${params['id']}/access#rescue`),
]

const Access = ({ server: s, rescue, area }: InArea) => (
  <>
    <Section id="sign-in" title="Sign in">
      <div class="stack">
        <Connection server={s} />
        <div class="rows wrap">
          <RootPassword server={s} />
          <Share server={s} />
        </div>
      </div>
    </Section>
    {rescue && <Rescue server={s} rescue={rescue} area={area} />}
  </>
)

function Share({ server: s }: { server: Server }) {
  if (s.owner.id !== useAt().actor.accountId) return null
  const words = (
    <>
      Gives somebody access, with the role you choose. <Link href="/team">Your team</Link>
    </>
  )
  return (
    <Setting op={inviteMember} title="Share" words={words}>
      <Action
        op={inviteMember}
        label="Share"
        body={{ serverId: s.id }}
        wide
        title={`Share ${s.name}`}
        submit="Send invitation"
        done="An invitation is on its way to {email}"
        fields={<InviteFields scope={`share-${s.id}`} />}
      />
    </Setting>
  )
}
