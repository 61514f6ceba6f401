// The questions that are asked of a large company, and how long each may take. One thread serves all, so each figure is
// also how long everybody else waits.

import { monthAfter, monthOf } from '../../../../src/billing/usage/period.ts'

/** `goalKb`: the most that may be sent for the page. */
export type Question = { what: string; path: string; goalMs: number; goalKb?: number }

const LIST = { goalMs: 50 }
const PAGE = { goalMs: 100, goalKb: 40 }

const lastMonth = monthAfter(monthOf(Date.now()), -1)

export const questionsOf = (ids: Record<'server' | 'owner' | 'node' | 'pack' | 'pool' | 'location', string>) =>
  [
    ...[
      ['overview', '/admin', { goalMs: 50 }],
      ['servers', '/admin/servers', PAGE],
      ['servers of a node', `/admin/servers?nodeId=${ids.node}`, PAGE],
      ['servers that run', '/admin/servers?status=running', PAGE],
      ['customers', '/admin/customers', PAGE],
      ['jobs', '/admin/jobs', PAGE],
      ['audit log', '/admin/audit', PAGE],
      ['nodes', '/admin/nodes', PAGE],
      ['address pools', '/admin/ip-pools', PAGE],
      ['one address pool', `/admin/ip-pools/${ids.pool}`, PAGE],
      ['order form', '/admin/servers/new', PAGE],
      ['packages', '/admin/packages', { ...PAGE, goalMs: 50 }],
      ['images', '/admin/images', { goalMs: 50 }],
      ['usage', '/admin/reports', PAGE],
      ['one server', `/admin/servers/${ids.server}`, PAGE],
    ].map(([what, path, goals]) => ({ what: `page: ${what}`, path, ...(goals as object) })),
    ...[
      ['overview', '/admin/overview'],
      ['stock', '/stock'],
      ['servers', '/admin/servers'],
      ['servers by name', '/admin/servers?sort=name'],
      ['servers by status', '/admin/servers?sort=status'],
      ['servers by createdAt', '/admin/servers?sort=createdAt'],
      ['servers by location', '/admin/servers?sort=location'],
      ['servers by package', '/admin/servers?sort=package'],
      ['servers by owner', '/admin/servers?sort=owner'],
      ['servers that run', '/admin/servers?status=running'],
      ['servers that are stopped', '/admin/servers?status=stopped'],
      ['servers that are suspended', '/admin/servers?status=suspended'],
      ['servers of a package', `/admin/servers?packageId=${ids.pack}`],
      ['servers that run, by owner', '/admin/servers?status=running&sort=owner'],
      ['servers of a package, by name', `/admin/servers?packageId=${ids.pack}&sort=name`],
      ['servers of a package that run', `/admin/servers?packageId=${ids.pack}&status=running`],
      ['servers of a location that run, by name', `/admin/servers?locationId=${ids.location}&status=running&sort=name`],
      ['servers of a location', `/admin/servers?locationId=${ids.location}`],
      ['servers that can be brought back', '/admin/servers?recoverable=true'],
      ['servers of an owner', `/admin/servers?ownerId=${ids.owner}`],
      ['servers of a node', `/admin/servers?nodeId=${ids.node}`],
      ['customers', '/admin/customers'],
      ['customers by name', '/admin/customers?sort=name'],
      ['customers by lock', '/admin/customers?sort=lockedAt'],
      ['customers by external id', '/admin/customers?sort=externalId'],
      ['customers with two words', '/admin/customers?q=customer+5000'],
      ['customers that are locked', '/admin/customers?locked=yes'],
      ['a customer by external id', '/admin/customers?externalId=whmcs:n77'],
      ['jobs', '/jobs'],
      ['jobs that are done', '/jobs?state=done'],
      ['jobs that failed', '/jobs?state=failed'],
      ['jobs of a kind', '/jobs?kind=install'],
      ['jobs of a node', `/jobs?nodeId=${ids.node}`],
      ['jobs that failed, by title', '/jobs?state=failed&sort=title'],
      ['jobs by title', '/jobs?sort=title'],
      ['jobs by state', '/jobs?sort=state'],
      ['jobs by startedBy', '/jobs?sort=startedBy'],
      ['jobs by createdAt', '/jobs?sort=createdAt'],
      ['audit log', '/admin/audit'],
      ['audit: done', '/admin/audit?result=done'],
      ['audit: an operation', '/admin/audit?operation=servers.power'],
      ['audit: operations of a part', '/admin/audit?operation=servers.'],
      ['audit: forbidden', '/admin/audit?result=forbidden'],
      ['nodes', '/admin/nodes'],
      ['locations', '/admin/node-groups'],
      ['address pools', '/admin/ip-pools'],
      ['one address pool', `/admin/ip-pools/${ids.pool}`],
      ['addresses of a pool', `/admin/ip-pools/${ids.pool}/addresses?limit=100`],
      ['packages', '/admin/packages'],
      ['images', '/admin/images'],
      ['events', '/events'],
      ['usage of accounts', '/reports/usage/accounts'],
      ['usage of accounts last month', `/reports/usage/accounts?month=${lastMonth}`],
      ['intervals of usage', '/reports/usage/intervals'],
      ['usage of servers', '/reports/usage'],
      ['host', '/admin/panel-host'],
    ].map(([what, path]) => ({ what: `API: ${what}`, path: `/api/v1${path}`, ...LIST })),
  ] as Question[]
