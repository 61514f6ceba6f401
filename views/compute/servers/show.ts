import { listOfferedImages } from '../../../src/catalog/images/images.ts'
import { getServer } from '../../../src/compute/servers/list.ts'
import { server as resource } from '../../../src/compute/servers/model.ts'
import { renameServer } from '../../../src/compute/servers/name.ts'
import { powerServer } from '../../../src/compute/servers/power.ts'
import { reinstallServer, setupServer } from '../../../src/compute/servers/setup.ts'
import { suspendServer, unsuspendServer } from '../../../src/compute/servers/suspend.ts'
import { terminateServer } from '../../../src/compute/servers/terminate.ts'
import { rightsWith } from '../../../src/compute/workloads/access.ts'
import { inviteMember } from '../../../src/identity/team/invite.ts'
import { listMemberships } from '../../../src/identity/team/memberships.ts'
import { roles } from '../../../src/identity/team/share.ts'
import { mayCallOn } from '../../../src/kernel/api/operation.ts'
import { type Content, type Html, html } from '../../../src/kernel/web/html.ts'
import { type Answers, type At, allIfAllowed, reading } from '../../../src/kernel/web/page.ts'
import { listServerActivity } from '../../../src/platform/audit/activity.ts'
import { listAudit } from '../../../src/platform/audit/audit.ts'
import { listJobs } from '../../../src/platform/jobs/jobs.ts'
import { act, callForm } from '../../components/act.ts'
import { type Area, inEveryArea } from '../../components/area.ts'
import { card, copyable, empty, inside, kv, notice } from '../../components/card.ts'
import { field, radios } from '../../components/field.ts'
import { head } from '../../components/head.ts'
import { live } from '../../components/live.ts'
import { serverState } from '../../components/state.ts'
import { time } from '../../components/time.ts'
import { exactGb, size, traffic } from '../../components/words.ts'
import { inviteFields, roleTitles } from '../../identity/team/fields.ts'
import { leave } from '../../identity/team/list.ts'
import { activityTable } from '../../platform/audit/table.ts'
import { jobTable } from '../../platform/jobs/table.ts'
import { accessFields, imageOptions } from './access.ts'
import { ownerLink } from './list.ts'
import { away, powerButton, quickPower } from './power.ts'
import { disabledReason, type Server, whatGoes } from './words.ts'

const reads = {
  server: getServer,
  jobs: reading(listJobs, ({ params }) => ({ query: { serverId: params['id'] ?? '', limit: '10' } })),
  images: allIfAllowed(listOfferedImages),
  memberships: allIfAllowed(listMemberships),
  done: reading(listServerActivity, ({ params }) => ({ params, query: { limit: '10' } })),
}
type Data = Answers<typeof reads> & { at: At }

export const serverPages = inEveryArea({
  path: '/servers/{id}',
  reads,
  title: ({ server }) => server.name,
  nav: 'servers',
  view: (data, area) => view(shown(data), area),
})

/** Of a server that is shared with somebody, only what its owner lets them do is drawn. */
function shown(data: Data): Data {
  const { at } = data
  const rights = rightsWith(data.server.access)
  return rights
    ? { ...data, at: { ...at, may: (op) => at.may(op) && (op.on !== resource || mayCallOn(op, at.actor, rights)) } }
    : data
}

const view = (data: Data, area: Area): Html => html`
  ${live(
    data.at,
    'server',
    2,
    html`
    ${head({ title: data.server.name, trail: [['Servers', `${area}/servers`]], state: serverState(data.server), actions: power(data), sub: summary(data.server, area) })}
    ${sharing(data)}
    ${happening(data, area)}`,
  )}
  ${data.server.status === 'pending_setup' && setup(data, area)}
  ${live(data.at, 'facts', 4, html`<div class="cols">${connect(data)}${about(data, area)}</div>`)}
  ${manage(data, area)}
  ${activity(data, area)}`

/** Whose it is, what one may do, and the way out. */
function sharing({ server: s, memberships, at }: Data): Html {
  if (s.access === 'own') return html``
  const mine = memberships?.data.filter((m) => (m.server ? m.server.id === s.id : m.owner.id === s.owner.id)) ?? []
  return html`<div class="card">${notice(
    'info',
    html`<strong>Shared by ${s.owner.name}.</strong> ${roleTitles[s.access]}: ${roles[s.access].words}`,
    mine.map((m) => leave(m, at, '/servers')),
  )}</div>`
}

const summary = (s: Server, area: Area): Html =>
  html`${s.hostname !== s.name && html`${s.hostname} · `}${s.image?.name ?? 'No image yet'} · ${s.package.name} · ${area ? ownerLink(s, area) : s.location.name}`

function power({ server: s, at }: Data): Html {
  if (s.status === 'terminated') return html``
  return html`${quickPower.map((action) => powerButton(at, s, action))}${act(
    at,
    powerServer,
    { id: s.id },
    'Force off',
    {
      body: { action: 'off' },
      disabledReason: away(s) ?? disabledReason(s, 'off'),
      done: 'Force off: under way',
      tone: 'bad',
      confirm: {
        keep: 'Keep it running',
        consequences: [
          html`${s.hostname} loses power at once, without shutting down.`,
          'What it has not written to its disk is lost.',
          'Shut down asks it to stop by itself, and is safer.',
        ],
      },
    },
  )}`
}

/** What is going on, or what went wrong: said once more for screen readers when it changes, without the percentage. */
function happening({ server: s, jobs, at }: Data, area: Area): Html {
  const job = s.job && jobs.data.find((j) => j.id === s.job?.id)
  return html`<p class="sr" role="status">${job ? `${job.title} is running.` : ''}</p>
    ${
      (s.job || s.status === 'failed' || s.status === 'suspended' || s.status === 'terminated' || !s.nodeConnected) &&
      html`<div class="card">
      ${s.job && notice('info', html`<strong>${job?.title ?? 'A job is working on it'}</strong>${job && html` <span class="muted">Step ${job.step.n} of ${job.step.of}${job.step.name && html`: ${job.step.name}`} · started ${time(job.startedAt ?? job.createdAt, at)} · you may leave this page</span>`}<progress max="100" value="${s.job.progress}" aria-label="Progress">${s.job.progress} %</progress>`, html`<a href="${area}/jobs/${s.job.id}">Follow job</a>`)}
      ${!s.nodeConnected && s.status !== 'terminated' && notice('bad', html`<strong>Its node is not connected.</strong> The server keeps running but cannot be changed.`, s.node && html`<a href="/admin/nodes/${s.node.id}">Open node</a>`)}
      ${s.status === 'failed' && notice('bad', html`<strong>The installation failed.</strong> ${s.failure}`, jobs.data[0] && html`<a href="${area}/jobs/${jobs.data[0].id}">Show log</a>`)}
      ${s.status === 'suspended' && notice('warn', html`<strong>Suspended.</strong> ${area ? html`Reason: ${s.suspendReason}` : 'Ask your provider about it.'}`)}
      ${s.status === 'terminated' && notice('warn', html`<strong>Terminated</strong> ${s.terminatedAt && time(s.terminatedAt, at)}.`)}
    </div>`
    }`
}

function setup({ server: s, images, at }: Data, area: Area): Html {
  const words = 'Choose what to install. It takes about a minute.'
  if (!at.may(setupServer)) return html``
  if (!images)
    return card({ id: 'setup', title: 'Waiting for setup' }, empty('Your provider installs this server for you.'))
  const options = imageOptions(images.data, s.diskGb)
  return card(
    { id: 'setup', title: 'Set it up', words },
    inside(
      callForm(
        setupServer,
        { id: s.id },
        {
          name: 'stack',
          done: 'Installation started',
          leadsTo: `${area}/servers/${s.id}`,
          secret: rootPassword(s.hostname),
        },
        html`
    ${radios('setup', 'imageId', { label: 'Image', value: options.find((o) => !o.why)?.value, options, empty: area === '/admin' ? noImages : noOffer })}
    ${field('setup', 'hostname', { label: 'Hostname', required: true, value: s.hostname, hint: 'Letters, numbers and hyphens, for example web01 or web01.example.com' })}
    ${field('setup', 'name', { label: 'Name', value: s.name === s.hostname ? '' : s.name, hint: 'Shown in lists. Empty: the hostname.' })}
    ${accessFields('setup', keysOf(s, at))}
    <div class="bar"><button class="btn pri">Install</button></div>`,
      ),
    ),
  )
}

export const rootPassword = (of: string) => ({
  field: 'rootPassword',
  title: `Root password of ${of}`,
  words: 'Sign in as root with it, over SSH or on the console.',
})
export const noImages = html`<p class="muted">No image is published. <a href="/admin/images">Add one</a> first.</p>`
export const noOffer = html`<p class="muted">No image is offered yet. Ask your provider.</p>`

const connect = ({ server: s }: Data): Html =>
  card(
    { id: 'connect', title: 'Addresses' },
    inside(
      kv([
        ['SSH', s.sshCommand && copyable(s.sshCommand, 'SSH command')],
        ['IPv4', s.ipv4 && copyable(s.ipv4, 'IPv4 address')],
        ['IPv6', s.ipv6 && copyable(s.ipv6, 'IPv6 address')],
        ...s.addresses.map((a): readonly [string, Content] => [
          a.version === 4 ? 'Network' : 'IPv6 prefix',
          html`<code>${a.address}/${a.prefixLength}</code> <span class="muted">gateway <code>${a.gateway}</code></span>`,
        ]),
        ['MAC', html`<code>${s.mac}</code>`],
      ]),
    ),
  )

const rename = (s: Server, at: At): Html =>
  act(at, renameServer, { id: s.id }, 'Rename', {
    title: `Rename ${s.name}`,
    submit: 'Save',
    done: 'Saved',
    fields: field('rename', 'name', {
      label: 'Name',
      required: true,
      value: s.name,
      hint: 'Shown in the panel. The hostname stays.',
    }),
  })

const about = ({ server: s, at }: Data, area: Area): Html =>
  card(
    { id: 'about', title: 'Details' },
    inside(
      kv([
        ['Name', s.status !== 'terminated' && at.may(renameServer) && html`${s.name} ${rename(s, at)}`],
        ['Hardware', size(s)],
        ['Package', s.package.name],
        [
          'Port',
          `${s.portMbps ? `${s.portMbps.toLocaleString('en')} Mbit/s` : 'Not limited'}${s.trafficGb ? ` · ${traffic(s.trafficGb)} a month` : ''}`,
        ],
        ['Location', s.location.name],
        [
          'Node',
          s.node &&
            html`<a href="/admin/nodes/${s.node.id}">${s.node.name}</a>${s.placement && html`<br><small class="muted">${s.placement}</small>`}`,
        ],
        ['Owner', area && html`${ownerLink(s, area)} <span class="muted">${s.owner.email}</span>`],
        ['Created', time(s.createdAt, at)],
        ['Id', copyable(s.id, 'id')],
      ]),
    ),
  )

/** What changes more than its power. Each says what it does before it is pressed. */
function manage(data: Data, area: Area): Html {
  const { server: s, images, at } = data
  if (s.status === 'terminated') return html``
  const params = { id: s.id }
  const rows: [Html, Content][] = [
    [
      s.status === 'suspended'
        ? act(at, unsuspendServer, params, 'Unsuspend', {
            disabledReason: disabledReason(s, 'unsuspend'),
            done: 'Given back to its owner',
          })
        : act(at, suspendServer, params, 'Suspend', {
            disabledReason: disabledReason(s, 'suspend'),
            done: 'Suspended',
            confirm: {
              consequences: [
                html`${s.hostname} is switched off${!s.nodeConnected && ' when its node is back'}.`,
                html`${s.owner.name} can neither start nor change it.`,
                'Disk and addresses stay.',
              ],
            },
            fields: field(`suspend-${s.id}`, 'reason', {
              label: 'Reason',
              required: true,
              hint: 'Staff, resellers and the billing system see it, customers do not. For example: Invoice 2041 is overdue',
            }),
          }),
      s.status === 'suspended'
        ? html`<strong>Unsuspend</strong><br><span class="muted">Gives it back to its owner, as it was before.</span>`
        : html`<strong>Suspend</strong><br><span class="muted">Switches it off and keeps its owner out until it is unsuspended.</span>`,
    ],
    [
      images && s.status !== 'pending_setup'
        ? act(at, reinstallServer, params, 'Reinstall', reinstalling(data, area))
        : html``,
      html`<strong>Reinstall</strong><br><span class="muted">Installs an image again. Everything on the disk is lost; addresses stay.</span>`,
    ],
    [
      s.owner.id === at.actor.accountId
        ? act(at, inviteMember, {}, 'Share', {
            body: { serverId: s.id },
            wide: true,
            title: `Share ${s.name}`,
            submit: 'Send invitation',
            done: 'An invitation is on its way to {email}',
            fields: inviteFields(`share-${s.id}`),
          })
        : html``,
      html`<strong>Share</strong><br><span class="muted">Gives somebody access, with the role you choose. <a href="/team">Your team</a></span>`,
    ],
    [
      act(at, terminateServer, params, 'Terminate server', {
        tone: 'bad',
        disabledReason: disabledReason(s, 'terminate'),
        title: `Terminate ${s.hostname}?`,
        done: `${s.hostname} is terminated`,
        ...(area ? { leadsTo: `${area}/servers` } : {}),
        confirm: { type: s.hostname, keep: 'Keep server', consequences: whatGoes(s) },
      }),
      html`<strong>Terminate</strong><br><span class="muted">Deletes its disk and gives its addresses back. It cannot be undone.</span>`,
    ],
  ]
  const shown = rows.filter(([button]) => button.text !== '')
  return live(
    at,
    'manage',
    4,
    shown.length > 0 &&
      card(
        { id: 'manage-card', title: 'Manage' },
        html`<div class="does-list">${shown.map(([button, words]) => html`<div><p>${words}</p>${button}</div>`)}</div>`,
      ),
  )
}

/** Whose SSH keys can be chosen from: a member sees the own ones, not the owner's. */
const keysOf = (s: Server, at: At) => (s.access === 'own' ? s.owner.id : at.actor.accountId)

function reinstalling({ server: s, images, at }: Data, area: Area): NonNullable<Parameters<typeof act>[4]> {
  const options = imageOptions(images?.data ?? [], s.diskGb)
  return {
    tone: 'bad',
    wide: true,
    title: `Reinstall ${s.hostname}?`,
    disabledReason: away(s) ?? disabledReason(s, 'reinstall'),
    done: 'Reinstallation started',
    leadsTo: `${area}/servers/${s.id}`,
    secret: rootPassword(s.hostname),
    confirm: {
      type: s.hostname,
      keep: 'Keep as it is',
      consequences: [
        html`Everything on its disk of ${exactGb(s.diskGb)} is deleted.`,
        'Name, addresses and package stay.',
      ],
    },
    fields: html`${radios(`reinstall-${s.id}`, 'imageId', { label: 'Image', value: options.find((o) => o.value === s.image?.id && !o.why)?.value ?? options.find((o) => !o.why)?.value, options, empty: area === '/admin' ? noImages : noOffer })}${accessFields(`reinstall-${s.id}`, keysOf(s, at))}`,
  }
}

const activity = ({ jobs, done, at }: Data, area: Area): Html =>
  live(
    at,
    'activity',
    4,
    html`
    ${card({ id: 'jobs', title: 'Jobs', count: jobs.total || undefined, actions: jobs.total > jobs.data.length && html`<a href="${area}/jobs?serverId=${at.params['id'] ?? ''}">Show all</a>` }, jobs.data.length ? jobTable(jobs.data, at, area, { server: false }) : empty('No job has worked on it yet.'))}
    ${card({ id: 'done', title: 'Activity', count: done.total || undefined, actions: html`${done.total > done.data.length && html`<a href="${area}/servers/${at.params['id'] ?? ''}/activity">Show all</a>`}${at.may(listAudit) && html` <a href="/admin/audit?target=${at.params['id'] ?? ''}">Show in audit log</a>`}` }, done.data.length ? activityTable(done.data, at, { target: false }) : empty('Nobody has changed it yet.'))}`,
  )
