// One command with a token on the new machine, and a page that waits for it.
import { listLocations } from '../../../src/fleet/locations/locations.ts'
import { enrollNode, getEnrollment } from '../../../src/fleet/nodes/enroll.ts'
import { type Answers, page, readingAll } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { CallForm } from '../../components/action.tsx'
import { Field, Select } from '../../components/field.tsx'
import { Head } from '../../components/head.tsx'
import { Link } from '../../components/link.tsx'
import { Live } from '../../components/live.tsx'
import { Empty, Note, Section } from '../../components/section.tsx'
import { Time } from '../../components/time.tsx'

type Locations = Answers<{ l: typeof listLocations }>['l']['data']
type Enrollment = Answers<{ e: typeof getEnrollment }>['e']

export const enrollPage = page({
  path: '/admin/nodes/enroll',
  reads: { locations: readingAll(listLocations) },
  title: 'Enroll node',
  nav: 'nodes',
  view: ({ locations }) => (
    <>
      <EnrollHead />
      <NewCommand />
      <Section id="wait" title="Node">
        {locations.data.length ? (
          <EnrollForm locations={locations.data} />
        ) : (
          <Empty
            action={
              <Link class="btn pri" to="/admin/node-groups">
                Add location
              </Link>
            }
          >
            A node belongs to a location. Add a location first.
          </Empty>
        )}
      </Section>
    </>
  ),
})

const EnrollHead = () => (
  <Head
    title="Enroll node"
    trail={[['Nodes', '/admin/nodes']]}
    sub={
      <span>
        A node is a machine that runs servers. It connects to this controller, so no port needs to be open on it.
      </span>
    }
  />
)

/** Only the call's response has the token: public/panel/calls/calls.js puts the command here, and a redraw keeps it. */
const NewCommand = () => (
  <section class="sec" id="command" hx-morph-skip="" hidden tabindex={-1} aria-labelledby="command-t">
    <header>
      <h2 id="command-t">Run this command on the new node, as root</h2>
      <div class="acts">
        <button type="button" class="btn" data-copy="">
          Copy
        </button>
      </div>
    </header>
    <div class="stack">
      <code class="secret" data-value="" />
      <p class="muted">
        It works once, within an hour, and is not shown again. The machine needs Debian 12 or 13 or Ubuntu 24.04 or
        26.04, curl, and a way to this address.
      </p>
    </div>
  </section>
)

const EnrollForm = ({ locations }: { locations: Locations }) => (
  <CallForm
    op={enrollNode}
    class="stack"
    leadsTo="/admin/nodes/enroll/{id}"
    secret={{ field: 'command', title: '', words: '', into: '#command' }}
  >
    <Select
      scope="enroll"
      name="locationId"
      label="Location"
      value={useAt().query['locationId']}
      options={locations.map((l) => ({ value: l.id, label: l.name }))}
    />
    <Field scope="enroll" name="name" label="Name" hint="Leave empty to use the machine’s host name." />
    <Field
      scope="enroll"
      name="bridge"
      label="Bridge"
      mono
      hint="The network bridge for its servers. Leave empty to use the one that the agent finds."
    />
    <Field
      scope="enroll"
      name="uplink"
      label="Uplink"
      mono
      hint="The network card or bond that leads out of the machine, such as bond0. It is watched; VLANs need it."
    />
    <Field
      scope="enroll"
      name="vlans"
      label="VLANs"
      mono
      hint="The VLANs for servers on its switch port: all, or a list such as 20,100-199. Leave empty for none."
    />
    <div class="bar">
      <button class="btn pri">Create command</button>
    </div>
  </CallForm>
)

export const enrollmentPage = page({
  path: '/admin/nodes/enroll/{id}',
  reads: { enrollment: getEnrollment },
  title: 'Enroll node',
  nav: 'nodes',
  view: ({ enrollment: e }) => (
    <>
      <EnrollHead />
      <NewCommand />
      <Section id="wait" title="Waiting for the node">
        <Live id="waiting" every={e.state === 'expired' || e.node?.connected ? undefined : 2} class="">
          <div role="status">
            <Progress of={e} />
          </div>
        </Live>
      </Section>
    </>
  ),
})

const CreateAnother = () => <Link to="/admin/nodes/enroll">Create another</Link>
const OpenNode = ({ id }: { id: string }) => (
  <Link to="/admin/nodes/{id}" params={{ id }}>
    Open node
  </Link>
)

/** How far the enrollment is. */
function Progress({ of: e }: { of: Enrollment }) {
  if (e.state === 'expired')
    return (
      <Note level="warn" action={<CreateAnother />}>
        <strong>The command expired</strong> <Time iso={e.expiresAt} />. No node was enrolled with it.
      </Note>
    )
  if (e.state === 'waiting')
    return (
      <Note level="info" action={<CreateAnother />}>
        <strong>No node has enrolled with it yet.</strong>
        <br />
        The command expires <Time iso={e.expiresAt} />. This page checks every two seconds; you can leave it.
        <progress aria-label="Waiting for the node" />
      </Note>
    )
  if (e.node?.connected)
    return (
      <>
        <Note level="info" action={<OpenNode id={e.node.id} />}>
          <strong>{e.node.name} is enrolled and connected.</strong>
        </Note>
        {e.node.addressPools === 0 && (
          <Note
            level="warn"
            action={
              <Link class="btn" to="/admin/ip-pools">
                Add address pool
              </Link>
            }
          >
            <strong>It has no address pool yet.</strong> With one it can take servers.
          </Note>
        )}
      </>
    )
  return (
    <Note level="info" action={e.node && <OpenNode id={e.node.id} />}>
      <strong>{e.node?.name ?? 'The node'} is enrolled</strong> and has not connected yet. Its agent should connect
      within a few seconds.
    </Note>
  )
}
