// Made from the OpenAPI document of Berth by its tests. Change the operations, not this file.

export const API_ROOT = '/api/v1'

export type AReasonInWords1To500 = string

export type Activity = {
  id: string
  at: string
  who: {
    name: string
    you: boolean
  }
  via: {
    type: "page" | "token" | "support" | "system" | "node"
    id: string | null
    name: string | null
  }
  operation: string
  /** Which of several things the operation did: `off` of `servers.power`. */
  action: string | null
  target: string | null
  targetName: string | null
  /** Where the target is an account. */
  targetKind: "staff" | "reseller" | "customer" | null
  /** It is no longer there, for you. */
  targetGone: boolean
  /** Null where you may not know it. */
  from: string | null
  result: string
  /** The job that it started. */
  jobId: string | null
  /** The end of what lasts: when a console was closed. */
  until: string | null
}

export type ActivityPage = {
  data: (Activity)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type AddressAdded = {
  /** The job that brings it to the node and into the running guest, by its guest agent. Its log says when no agent answers: the guest then has it when the server is restarted in the panel. Null: nothing is installed. */
  jobId: string | null
  serverId: string
  address: ServerAddress
}

export type AddressChange = {
  /** waiting: its guest agent is asked until it answers. given_up: none answered in time. Null: nothing was changed. */
  state: "waiting" | "done" | "given_up" | null
  /** Why its system was not told yet. */
  error: string | null
  since: string | null
}

export type AddressHolding = {
  /** An IPv4 address, or the first address of an IPv6 prefix. */
  address: string
  prefixLength: number
  version: 4 | 6
  /** The name is null when the pool was removed since. */
  pool: {
    id: string
    name: string | null
  }
  kind: "primary" | "extra" | "floating"
  /** What had it, or where a floating address pointed to; null: nowhere. Until it is released, a terminated server still has its addresses, which nobody uses meanwhile. */
  server: {
    id: string
    /** server, or another kind of workload. */
    kind: string
    hostname: string
    terminatedAt: string | null
  } | null
  floatingIp: {
    id: string
    name: string
  } | null
  owner: {
    id: string
    name: string
    kind: string | null
  }
  from: string
  /** False: it was held already when this history began at `from`; since when is not known. */
  fromKnown: boolean
  /** Null: still. */
  to: string | null
  /** After it ended, nobody got the address before; null: it did not rest. */
  restedUntil: string | null
  /** Null where it is not known. */
  began: HoldingCause | null
  ended: HoldingCause | null
}

export type AddressHoldingPage = {
  data: (AddressHolding)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type AddressNow = {
  address: string
  /** Who had it is kept for so many days. */
  historyDays: number
  /** More than one where pools of several locations have the same private range; none where its pool was removed, or its prefix is not cut yet. */
  rows: ({
    id: string
    /** The first address of the IPv6 prefix in which it lies. */
    address: string
    prefixLength: number
    state: "free" | "held" | "reserved" | "resting"
    reservedFor: string | null
    /** Why it is never given out again, also of one that a server has still. */
    retiredFor: string | null
    restsUntil: string | null
    pool: {
      id: string
      name: string
      gateway: string
    }
  })[]
}

export type AddressPool = {
  id: string
  name: string
  version: 4 | 6
  network: string
  gateway: string
  first: string
  last: string
  resolvers: (string)[]
  /** In which its servers are, on the uplinks of its nodes. Null: none. */
  vlan: number | null
  /** null for IPv6: too many to count. */
  total: number | null
  free: number | null
  held: number
  reserved: number
  /** Freed ones that nobody gets yet. */
  resting: number
  /** So long a freed address rests before another server gets it. */
  quarantineHours: number
  /** The first 100 by name. */
  nodes: ({
    id: string
    name: string
  })[]
  /** How many nodes route it; `pools.nodes` lists them. */
  nodeCount: number
  /** Those of its nodes that do not carry its VLAN, 100 at most: they give none of its addresses. */
  uncarried: ({
    id: string
    name: string
  })[]
  /** Of a private range (RFC 1918, RFC 6598, fc00::/7): the only location where no other pool has its addresses. Null: no pool has them at any location, or the pool was never attached to a node. */
  uniqueAt: {
    id: string
    name: string
  } | null
  /** Nodes that have not told since the database was restored which addresses are in use on them; it gives none before. */
  awaited: ({
    id: string
    name: string
  })[]
}

export type AddressPoolPage = {
  data: (AddressPool)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type AddressUse = {
  addressId: string
  /** An IPv4 address, or the first address of an IPv6 prefix. */
  address: string
  prefixLength: number
  version: 4 | 6
  /** extra: of a server, beside its primary ones, until that is terminated. floating: of an account, whether it points to a server or not. */
  kind: "extra" | "floating"
  /** Null for an extra address. */
  floatingIpId: string | null
  owner: UsageOwner
  /** Null in the answers to customers. */
  resellerId: string | null
  /** The server that has it, or to which it pointed last in the period. Null: a floating address that pointed to none. */
  serverId: string | null
  /** The billing system's own identifier of that server. */
  billingServiceId: string | null
  /** When it began in the period. */
  from: string
  /** When it ended, or how far the period has passed. */
  to: string
  /** Days of 24 hours, to four decimals. */
  days: number
  /** Exact to the millisecond: sums of it are exact too. */
  seconds: number
}

export type AddressUsePage = {
  data: (AddressUse)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type AgentUpdate = {
  state: "fetching" | "refused" | "failed" | "switching" | "trial" | "went_back"
  at: number
  version?: OneLineOfText0To64
  from?: OneLineOfText0To64
  code?: string
  reason?: OneLineOfText0To500
  findings?: (OneLineOfText0To300)[]
}

export type Alert = {
  id: string
  serverId: string
  kind: "cpu" | "memory" | "disk_io" | "network" | "traffic" | "down"
  /** In the unit of its kind; null for down. */
  threshold: number | null
  /** It fires after so many measured minutes in a row, and recovers likewise. */
  minutes: number
  description: string
  firing: boolean
  /** Since when it fires. */
  firedAt: string | null
  createdAt: string
}

export type AlertPage = {
  data: (Alert)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type Allowance = {
  vcpus: number
  memoryMb: number
  diskGb: number
  trafficGb: number
  ipv4: number
}

/** By itself and its customers together. */
export type Amounts = {
  customers: number
  servers: number
  vcpus: number
  memoryMb: number
  diskGb: number
  ipv4: number
  gpus: number
}

export type Announcement = {
  id: string
  text: string
  audience: "everybody" | "customers" | "resellers" | "staff"
  level: "info" | "warn" | "bad"
  startsAt: string
  endsAt: string | null
  /** Only customers with a server on this node read it, and their resellers; null: the whole audience. */
  node: {
    id: string
    name: string
  } | null
  /** It ends when the node is connected again. */
  untilConnected: boolean
  createdAt: string
}

export type AnnouncementPage = {
  data: (Announcement)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type Attention = {
  /** down: something does not work now. bad: it is broken, or soon will be. warn: it can wait for a working day. */
  level: "down" | "bad" | "warn"
  what: string
  /** What it means. */
  effect: string
  since: string | null
  /** What to do about it, and in href the page where; null where there is nothing that you can do. */
  action: string | null
  href: string | null
}

export type AuditLine = {
  id: string
  at: string
  actor: {
    id: string
    name: string
  }
  via: {
    type: "page" | "token" | "support" | "system" | "node"
    id: string | null
    name: string | null
  }
  operation: string
  target: string | null
  /** As it is called today. */
  targetName: string | null
  /** Where the target is an account. */
  targetKind: "staff" | "reseller" | "customer" | null
  /** It no longer exists. */
  targetGone: boolean
  from: string
  /** The X-Request-Id of the call. */
  requestId: string
  /** done, or the code of the refusal. */
  result: string
  /** The job that it started. */
  jobId: string | null
  /** What was sent; secrets are `***`. */
  details: unknown
  changes: ({
    field: string
    before: unknown
    after: unknown
  })[]
}

export type AuditLinePage = {
  data: (AuditLine)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type Backup = {
  id: string
  serverId: string
  /** Its hostname when the backup was made. */
  serverName: string
  /** The owner of the server when the backup was made. */
  ownerId: string
  ownerName: string
  /** Its server is terminated, or belongs to another account now. */
  left: boolean
  /** manual: somebody asked for it. scheduled: a plan. */
  kind: "manual" | "scheduled"
  planId: string | null
  /** Only a ready one can be restored. */
  state: "running" | "ready" | "failed" | "deleting"
  /** Where it lies. */
  targetName: string
  /** Null for one that a plan could not begin. */
  jobId: string | null
  /** The disk of the server when it was made. */
  diskGb: number
  diskBytes: number | null
  /** What was new in it, and sent. */
  addedBytes: number | null
  /** True: the guest had written everything to its disk. False: it starts as after a power failure. */
  consistent: boolean | null
  seconds: number | null
  /** Why it failed; in words for everybody. */
  error: {
    code: string
    message: string
  } | null
  startedAt: string
  /** Null while it is made. */
  endedAt: string | null
  /** When it is deleted by itself, also because its server is terminated. Null: when somebody deletes it, or its plan. */
  keepUntil: string | null
  /** When its target, which is append-only, last refused to delete it. */
  keptAt: string | null
  verifiedAt: string | null
  /** When its system last answered in a restore drill. */
  provenAt: string | null
  /** agent: its guest agent answered. console: its serial line did. disk: it ran and read its disk, a weak proof. */
  proof: "agent" | "console" | "disk" | null
  /** Why the last restore drill failed; null: it did not. */
  drillError: string | null
  /** Why it cannot be restored in place now, in words; null: it can. */
  notRestorable: string | null
  /** Why it cannot be deleted now, in words; null: it can. */
  notDeletable: string | null
}

export type BackupCalendar = {
  month: string
  /** Of its plan; UTC without one. */
  timeZone: string
  today: string
  /** The day of its next backup by plan. */
  nextDate: string | null
  /** Days without a backup are left out. */
  days: (BackupDay)[]
}

export type BackupDay = {
  /** Like 2026-11-23. */
  date: string
  ready: number
  failed: number
  /** Being made or deleted. */
  running: number
}

export type BackupDeleted = {
  /** Null: nothing of it lay anywhere, so its record is deleted at once. */
  jobId: string | null
  backupId: string
}

export type BackupDrillStarted = {
  jobId: string
}

export type BackupFile = {
  /** Bytes that are no UTF-8 are written as \xff. */
  name: string
  /** The same for people: without line ends and invisible characters. */
  shownName: string
  /** other: a device, a pipe or a socket. Links are not followed. */
  kind: "file" | "directory" | "link" | "other"
  sizeBytes: number
  modifiedAt: string | null
}

export type BackupFiles = {
  partitions: (BackupPartition)[]
  /** The one that was asked for, or the largest that can be read. Null: none of them can be read. */
  partition: number | null
  path: string
  entries: (BackupFile)[]
  skipped: number
  total: number
  /** The directory has more entries, which cannot be reached. */
  isCut: boolean
}

export type BackupPartition = {
  /** 0: the disk has no partitions. */
  number: number
  sizeBytes: number
  /** Only ext can be read: ext2, ext3 and ext4. */
  fileSystem: "ext" | "xfs" | "btrfs" | "ntfs" | "fat" | "encrypted" | "lvm" | "swap" | "unknown"
}

export type BackupPlan = {
  id: string
  name: string
  target: TargetOfBackupPlan
  every: "six_hours" | "twelve_hours" | "day" | "sunday" | "monday" | "tuesday" | "wednesday" | "thursday" | "friday" | "saturday"
  /** A local time of the time zone, as 02:30. */
  startsAt: string
  /** Servers begin spread over so many minutes, each always at its own moment. */
  windowMinutes: number
  timeZone: string
  /** When its next window begins. */
  nextAt: string
  /** So many of the newest backups of a server are kept. */
  keepLast: number
  /** Beside them the newest of each of so many days that have one. */
  keepDaily: number
  /** The same of weeks, from Monday on. */
  keepWeekly: number
  /** The same of months. */
  keepMonthly: number
  /** Free text, such as vendor:number. */
  billingProductId: string | null
  /** No further server can be put on it; those that are stay. */
  archived: boolean
  servers: number
  /** When one of its backups was last proven by a restore drill. */
  provenAt: string | null
}

export type BackupPlanOfServer = {
  id: string
  name: string
  every: "six_hours" | "twelve_hours" | "day" | "sunday" | "monday" | "tuesday" | "wednesday" | "thursday" | "friday" | "saturday"
  /** A local time of the time zone, as 02:30. */
  startsAt: string
  /** Servers begin spread over so many minutes, each always at its own moment. */
  windowMinutes: number
  timeZone: string
  /** So many of the newest backups of a server are kept. */
  keepLast: number
  /** Beside them the newest of each of so many days that have one. */
  keepDaily: number
  /** The same of weeks, from Monday on. */
  keepWeekly: number
  /** The same of months. */
  keepMonthly: number
  /** For staff; null for others. */
  billingProductId: string | null
}

export type BackupPlanPage = {
  data: (BackupPlan)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type BackupRecord = {
  id: string
  serverId: string
  /** Its hostname when the backup was made. */
  serverName: string
  /** The owner of the server when the backup was made. */
  ownerId: string
  ownerName: string
  /** Its server is terminated, or belongs to another account now. */
  left: boolean
  /** manual: somebody asked for it. scheduled: a plan. */
  kind: "manual" | "scheduled"
  planId: string | null
  /** Only a ready one can be restored. */
  state: "running" | "ready" | "failed" | "deleting"
  /** Where it lies. */
  targetName: string
  /** Null for one that a plan could not begin. */
  jobId: string | null
  /** The disk of the server when it was made. */
  diskGb: number
  diskBytes: number | null
  /** What was new in it, and sent. */
  addedBytes: number | null
  /** True: the guest had written everything to its disk. False: it starts as after a power failure. */
  consistent: boolean | null
  seconds: number | null
  /** Why it failed; in words for everybody. */
  error: {
    code: string
    message: string
  } | null
  startedAt: string
  /** Null while it is made. */
  endedAt: string | null
  /** When it is deleted by itself, also because its server is terminated. Null: when somebody deletes it, or its plan. */
  keepUntil: string | null
  /** When its target, which is append-only, last refused to delete it. */
  keptAt: string | null
  verifiedAt: string | null
  /** When its system last answered in a restore drill. */
  provenAt: string | null
  /** agent: its guest agent answered. console: its serial line did. disk: it ran and read its disk, a weak proof. */
  proof: "agent" | "console" | "disk" | null
  /** Why the last restore drill failed; null: it did not. */
  drillError: string | null
}

export type BackupRecordPage = {
  data: (BackupRecord)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type BackupRepository = {
  target: {
    id: string
    name: string
  }
  owner: {
    id: string
    name: string
  }
  /** The node in whose folder it lies; null in a target that all nodes share. */
  node: {
    id: string
    name: string
  } | null
  /** The last job that checked or tidied it. */
  jobId: string | null
  /** Null before the first check. */
  checkedAt: string | null
  /** Of the last check. */
  finding: "works" | "restic_missing" | "not_prepared" | "unreachable" | "certificate" | "host_key" | "login_refused" | "not_writable" | "wrong_password" | "locked" | "full" | "slow" | "unreliable" | "backups_missing" | "failed" | "damaged" | null
  detail: string | null
  /** Since when it is known to be damaged; null: it is not. */
  damagedAt: string | null
  /** Of its data, in this round. A round begins when all parts were read. */
  partsRead: number
  parts: number
  /** When space was last freed. Null: never. */
  prunedAt: string | null
  /** False: its target is append-only, so the holder of the second key of the target frees the space there. */
  prunedHere: boolean
  freedBytes: number | null
}

export type BackupRepositoryPage = {
  data: (BackupRepository)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type BackupRestoredToServer = {
  jobId: string
  serverId: string
  ipv4: string | null
}

export type BackupStarted = {
  jobId: string
  serverId: string
  backupId: string
}

export type BackupTarget = {
  id: string
  name: string
  kind: "local" | "sftp" | "s3" | "rest"
  address: string
  login: string | null
  /** The host key of SFTP, or the certificate of its authority. */
  trust: string | null
  /** Backups that no plan makes go to it. */
  isDefault: boolean
  /** How its nodes are told apart. logins: each node can have a login of its own, so that a leaked one is revoked alone, and the target decides what it reaches. folders: each node has its own folder, unless a shared disk is mounted there. */
  separation: "logins" | "folders"
  /** A node without a login of its own does not reach it. */
  ownLoginsOnly: boolean
  /** The nodes that have a login of their own. */
  nodeLogins: (NodeLogin)[]
  /** The nodes that use the login of the target, or none where ownLoginsOnly is set. */
  sharingNodes: ({
    id: string
    name: string
  })[]
  createdAt: string
  changedAt: string
  /** The last test. Null before the first, and after a change. */
  test: BackupTargetTest | null
}

export type BackupTargetPage = {
  data: (BackupTarget)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type BackupTargetTest = {
  jobId: string
  node: {
    id: string
    name: string
  }
  startedAt: string
  /** Null while it runs. */
  endedAt: string | null
  finding: "works" | "restic_missing" | "not_prepared" | "unreachable" | "certificate" | "host_key" | "login_refused" | "not_writable" | "wrong_password" | "locked" | "full" | "slow" | "unreliable" | "backups_missing" | "failed" | "not_tested" | null
  /** The finding in words, with what to do. */
  message: string | null
  /** What the target or restic said. */
  detail: string | null
  seconds: number | null
  /** yes: nobody with the login of the nodes can erase a backup. unknown: the target does not tell. */
  appendOnly: "yes" | "no" | "unknown" | null
}

export type Balance = {
  location: LocationReference
  /** Nodes above it are relieved, and no node is filled up to it. */
  limitPercent: number
  nodes: ({
    node: {
      id: string
      name: string
    }
    /** Null: it has none. */
    memoryPercent: number | null
    /** Null: it has none. */
    memoryPercentAfter: number | null
    /** Null: it has none. */
    diskPercent: number | null
    /** Null: it has none. */
    diskPercentAfter: number | null
  })[]
  /** At most 5. They keep the rules of placement groups, also soft ones. */
  moves: ({
    server: {
      id: string
      hostname: string
    }
    from: {
      id: string
      name: string
    }
    to: {
      id: string
      name: string
    }
    /** live: moved with its memory while it runs. near_live: copied while it runs, and off for what changed meanwhile. cold: off while it is copied. reassigned: it waits for its setup, so nothing is copied. */
    mode: "live" | "near_live" | "cold" | "reassigned"
    /** To be copied at most. */
    bytes: number
    expectedSeconds: number
    expectedDowntimeMs: number
  })[]
}

export type BalanceBegun = {
  transfers: ({
    serverId: string
    transferId: string
    jobId: string | null
  })[]
}

export type Bandwidth = {
  /** This month in UTC. */
  month: string
  /** In both directions together. */
  usedBytes: number
  /** Of its package; null: not limited. */
  allowanceGb: number | null
  /** Bought beside it for this month. */
  addedGb: number
  /** Used of both together; null: not limited. */
  percent: number | null
  overTraffic: "nothing" | "suspend" | "throttle"
  suspendedForTraffic: boolean
  /** It is slowed down for its traffic; null: it is not. */
  throttledToMbps: number | null
}

export type BandwidthAdded = {
  /** The job that starts it again or gives it its speed back; null where neither is needed. */
  jobId: string | null
  serverId: string
  bandwidth: Bandwidth
}

export type BillingConnection = {
  product: string
  version: string
  /** The time here: signatures and retries depend on clocks that agree. */
  time: string
  account: {
    id: string
    name: string
    kind: string
  }
  /** The API token of the call; null for a person who is signed in. */
  calledWith: {
    name: string
    expiresAt: string | null
  } | null
  preset: "billing" | "reseller-billing"
  /** Scopes of the preset that this token lacks; empty: it is ready. */
  missingScopes: (string)[]
}

export type BillingDifference = {
  kind: "missing_here" | "missing_there" | "listed_twice" | "other_identifier" | "other_state" | "other_product" | "other_owner" | "billed_by_reseller"
  /** The line of the list, from 1; null where it has none. */
  line: number | null
  serverId: string | null
  instanceId: string | null
  hostname: string | null
  billingServiceId: string | null
  /** The value in the list. */
  there: string | null
  /** The value here. */
  here: string | null
  words: string
}

export type BillingService = {
  billingServiceId: string
  /** The living server that has the identifier. */
  serverId: string | null
  /** The living GPU instance that has the identifier. */
  instanceId: string | null
  /** How many servers and GPU instances ever had the identifier, terminated ones included. It never goes down. */
  workloadsEver: number
}

export type Bond = {
  mode: OneLineOfText0To60
  ports: ({
    name: string
    state: "up" | "down" | "apart"
  })[]
}

export type Brake = {
  id: string
  /** The account that asked for the destruction. */
  actor: {
    id: string
    name: string
  }
  openedAt: string
  /** So many were held in all. */
  count: number
  /** So many still wait. */
  waiting: number
  /** The first 200 that wait. */
  held: ({
    /** Of the server, GPU instance, volume or backup that is destroyed. */
    id: string
    name: string
    owner: {
      id: string
      name: string
    }
    kind: "terminate" | "give_up_window" | "reinstall" | "restore" | "delete_volume" | "delete_backup" | "forget_backup" | "lose_volume" | "lose"
    /** The server or GPU instance; of a volume or backup the server that has it or had it. */
    workload: {
      id: string
      kind: string
      hostname: string
    }
    at: string
  })[]
  decidedAt: string | null
  decision: "released" | "refused" | null
  decidedBy: string | null
  /** You asked for it yourself: somebody else decides. */
  own: boolean
}

export type BrakeDecided = {
  /** So many were decided by this call. */
  settled: number
  /** So many of the case still wait. */
  waiting: number
  /** Those that could not be brought back; they stay held. */
  failed: ({
    id: string
    code: string
    message: string
  })[]
}

export type BrakePage = {
  data: (Brake)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type Branding = {
  name: string | null
  accent: string | null
  senderName: string | null
  senderAddress: string | null
  /** A web address or an e-mail address; on the sign-in page, too. */
  supportLink: string | null
  /** Where it is served; null without one. */
  logo: string | null
}

export type BulkAction = {
  /** Null in a plan (`dryRun=true`). */
  id: string | null
  /** The parent of the jobs of its servers. Null in a plan. */
  jobId: string | null
  kind: string
  action: string
  title: string
  /** cancelling: what has begun comes to its end. */
  state: "planned" | "running" | "cancelling" | "cancelled" | "done"
  counts: {
    all: number
    /** In a plan: those that it can be done to. */
    waiting: number
    running: number
    done: number
    /** Their jobs failed; the log of each says why. */
    failed: number
    /** Nothing was done to them. */
    refused: number
    /** They had not begun when it was cancelled. */
    cancelled: number
  }
  /** Why some are refused or failed, the most frequent first. */
  reasons: ({
    code: string
    /** In the words for the first of them. */
    reason: string
    count: number
    /** The first few. */
    names: (string)[]
  })[]
  /** In a plan: so many wait until a job of their own has ended. */
  busy: number
  startedBy: {
    id: string
    name: string
  } | null
  createdAt: string | null
  finishedAt: string | null
}

export type BulkActionPage = {
  data: (BulkAction)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type BulkActionServer = {
  id: string
  /** As it was called when the action began. */
  name: string
  state: "waiting" | "running" | "done" | "failed" | "refused" | "cancelled"
  /** Its own job; null where it has none. */
  jobId: string | null
  code: string | null
  /** Why it was refused, failed or waits. */
  reason: string | null
  endedAt: string | null
}

export type BulkActionServerPage = {
  data: (BulkActionServer)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type Card = {
  uuid: string
  model: OneLineOfText0To100
  memoryMb: number
  bus: OneLineOfText0To40
  driver: OneLineOfText0To40
  serial: OneLineOfText0To60
  nvlinks: number
  mig: "none" | "off" | "on"
  problems: (OneLineOfText0To300)[]
}

export type CardMetrics = {
  id: string
  model: string
  memoryMb: number
  /** When its host last said anything of it; null: not within the hour. */
  measuredAt: string | null
  /** The last values; null as measuredAt is. */
  busyPercent: number | null
  memoryUsedMb: number | null
  temperatureC: number | null
  powerW: number | null
  series: CardValues
}

export type CardValues = {
  /** How much of the time a program ran on the card, in percent. */
  busyPercent: (number | null)[]
  /** The highest of the shorter values behind one value of busyPercent. */
  busyPeakPercent: (number | null)[]
  /** Memory of the card in use, in MiB. */
  memoryMb: (number | null)[]
  /** Temperature in degrees Celsius; 0 stands for frost too. */
  temperatureC: (number | null)[]
  /** Power in watts. */
  powerW: (number | null)[]
}

export type ConsoleTicket = {
  serverId: string
  /** vnc: the screen. serial: the first serial line. */
  kind: "vnc" | "serial"
  /** Open a WebSocket here, with the credentials of this call. */
  path: string
  /** For Sec-WebSocket-Protocol; the second one is the ticket. */
  protocols: (string)[]
  /** It works once, within 30 seconds. */
  expiresAt: string
}

export type ContainerEngine = {
  name: OneLineOfText0To40
  version: OneLineOfText0To40
  problems: (OneLineOfText0To300)[]
}

export type ControllerBackups = {
  /** Of each day, in UTC. */
  hour: number
  keepDays: number
  targets: ({
    id: string
    name: string
    address: string
    lastAt: string | null
    lastGoodAt: string | null
    /** Of the last; null when it succeeded. */
    error: string | null
    bytes: number
    seconds: number
  })[]
}

export type CpuBaseline = {
  location: LocationReference
  /** Null: new servers have all that the CPU of their node has. */
  model: string | null
  /** The best one that each node runs that says what it runs. */
  proposed: string | null
  /** Those that all of these nodes run, the best first. */
  common: (string)[]
  nodes: ({
    node: {
      id: string
      name: string
    }
    /** As the CPU calls itself. */
    cpu: string | null
    /** How many it runs; 0: it does not say. */
    models: number
    /** It runs the CPU model of the location. Without one: true. */
    runs: boolean
  })[]
  /** Servers with another one, and those that wait for it: the first 100, by hostname. */
  servers: ({
    server: {
      id: string
      hostname: string
    }
    node: {
      id: string
      name: string
    }
    /** Null: all that its node has. */
    model: string | null
    /** It has this one from its next start from off. */
    pending: boolean
  })[]
  serversTotal: number
}

export type CpuBaselineAdopted = {
  servers: ({
    serverId: string
    /** Null: it was refused, or nothing is installed on it. */
    jobId: string | null
    /** Why it was refused. */
    error: {
      code: string
      message: string
    } | null
  })[]
}

export type Customer = {
  id: string
  kind: "customer" | "reseller" | "staff"
  email: string
  name: string
  organization: string | null
  /** The billing system's own identifier of it. */
  externalId: string | null
  /** Null: a customer of the house. Also null in the answers to customers. */
  resellerId: string | null
  resellerName: string | null
  hasPassword: boolean
  /** Has one set up. */
  secondFactor: boolean
  /** When it last used the panel, signed in; null when not recently. */
  seenAt: string | null
  lockedAt: string | null
  /** Nothing new can be ordered for a locked account. */
  lockReason: string | null
  createdAt: string
  /** How many it has. */
  servers: number
  allowance: Allowance
  /** GPUs that it may have where it orders instances itself, those that others ordered for it included; 0: it orders none. A reseller has a quota instead. */
  gpuLimit: number
}

export type CustomerPage = {
  data: (Customer)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type Done = Record<string, never>

export type Drain = {
  id: string
  /** drain: the node is emptied. return: servers come back to it. */
  kind: "drain" | "return"
  node: {
    id: string
    name: string
  }
  /** paused: no move begins until somebody resumes it. cancelling: moves at work come to their end first. */
  state: "running" | "paused" | "cancelling" | "cancelled" | "done"
  /** Null while it is not paused. */
  pausedBy: "person" | "failure" | null
  /** The drain whose servers come back. */
  ofDrainId: string | null
  jobId: string
  atOnce: number
  maxMbps: number | null
  /** pause: it waits for a person when a server could not move. */
  onFailure: "continue" | "pause"
  startedBy: {
    id: string
    name: string
  }
  /** How long it was to take, as it was planned. */
  expectedSeconds: number
  /** Why no move begins now although it runs, in words. */
  waitsFor: string | null
  /** Of its servers. */
  counts: {
    servers: number
    waiting: number
    moving: number
    moved: number
    failed: number
    /** Those that cannot move. */
    left: number
    /** Terminated meanwhile, or moved by somebody else. */
    gone: number
    stopping: number
    /** Stopped with a notice to their owners. */
    stopped: number
  }
  /** All its pauses together. */
  pausedSeconds: number
  createdAt: string
  pausedAt: string | null
  finishedAt: string | null
  /** When its node was opened again. */
  returnedAt: string | null
}

export type DrainChoice = {
  /** Null: with its memory where nothing speaks against it. */
  mode: "live" | "near_live" | "cold" | null
  /** Null: placement chooses. */
  node: {
    id: string
    name: string
  } | null
  /** It stays where it is. */
  leave: boolean
  /** Those with a place move first, in its order. */
  place: number | null
  by: string
}

export type DrainChoiceKept = {
  serverId: string
  /** Null: nothing is chosen any more. */
  choice: DrainChoice | null
}

export type DrainDetail = {
  id: string
  /** drain: the node is emptied. return: servers come back to it. */
  kind: "drain" | "return"
  node: {
    id: string
    name: string
  }
  /** paused: no move begins until somebody resumes it. cancelling: moves at work come to their end first. */
  state: "running" | "paused" | "cancelling" | "cancelled" | "done"
  /** Null while it is not paused. */
  pausedBy: "person" | "failure" | null
  /** The drain whose servers come back. */
  ofDrainId: string | null
  jobId: string
  atOnce: number
  maxMbps: number | null
  /** pause: it waits for a person when a server could not move. */
  onFailure: "continue" | "pause"
  startedBy: {
    id: string
    name: string
  }
  /** How long it was to take, as it was planned. */
  expectedSeconds: number
  /** Why no move begins now although it runs, in words. */
  waitsFor: string | null
  /** Of its servers. */
  counts: {
    servers: number
    waiting: number
    moving: number
    moved: number
    failed: number
    /** Those that cannot move. */
    left: number
    /** Terminated meanwhile, or moved by somebody else. */
    gone: number
    stopping: number
    /** Stopped with a notice to their owners. */
    stopped: number
  }
  /** All its pauses together. */
  pausedSeconds: number
  createdAt: string
  pausedAt: string | null
  finishedAt: string | null
  /** When its node was opened again. */
  returnedAt: string | null
  /** In the order in which they move. */
  servers: (DrainServer)[]
  /** Open nodes to which a server of it can be sent; none when it has ended. */
  targets: ({
    id: string
    name: string
  })[]
}

export type DrainFailure = {
  /** Where its move stopped; null: it did not begin. */
  phase: {
    title: string
    n: number
    of: number
  } | null
  /** The server runs where it is. */
  running: boolean
  /** The move had shut it down for a time. */
  wasOff: boolean
  /** Something of it is on the other node still, and is being deleted. */
  isLeftThere: boolean
  /** Nodes that take it now. */
  nodes: ({
    id: string
    name: string
    freeDiskGb: number
  })[]
}

export type DrainPage = {
  data: (Drain)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type DrainPlan = {
  node: {
    id: string
    name: string
  }
  madeAt: string
  /** The other nodes of its location, to choose from. */
  targets: ({
    id: string
    name: string
  })[]
  /** The drain that begins by itself; null: none. */
  scheduled: ScheduledDrain | null
  /** Terminated workloads whose disks stay on the node until they can no longer be brought back. */
  ended: number
  servers: (PlannedServer)[]
  /** Nodes that take some of them. */
  nodes: (PlannedNode)[]
  totals: {
    servers: number
    moves: number
    cannotMove: number
    /** Of those that move: off already, or not set up, so nobody notices. */
    off: number
    /** Owners of all of them. */
    owners: number
    /** Owners whose server is off for it while it should run. */
    ownersToTell: number
    bytes: number
    /** Until all have moved, so many at once. */
    expectedSeconds: number
    longestDowntimeMs: number
  }
  atOnce: number
}

export type DrainServer = {
  id: string
  kind: "server" | "gpu_instance"
  hostname: string
  state: "waiting" | "moving" | "moved" | "failed" | "left" | "gone" | "stopping" | "stopped"
  /** Null where it could not move. */
  mode: "live" | "near_live" | "cold" | "reassigned" | null
  /** Where its move goes or went; as it was planned until that begins. */
  to: {
    id: string
    name: string
  } | null
  transferId: string | null
  /** The job that stops it. */
  jobId: string | null
  bytesCopied: number
  expectedDowntimeMs: number
  /** How long its system was off for it; null before its move ends. */
  downtimeMs: number | null
  /** Why it failed, was left or waits. */
  reason: string | null
  /** Where a person has sent it, while it has not moved; null: placement chooses. */
  chosenNode: {
    id: string
    name: string
  } | null
  /** The way that a person has chosen for it. */
  chosenMode: "live" | "near_live" | "cold" | null
  /** Of one that failed in a drain that goes on; of the first few alone. */
  failure: DrainFailure | null
  endedAt: string | null
}

export type Error = {
  error: {
    /** To branch on. New ones may come: treat one that you do not know by its status. */
    code: string
    /** For a person; its words may change. */
    message: string
    /** Only where there is more to say. */
    details?: Record<string, unknown>
  }
}

export type EvacuationStarted = {
  drainId: string
  /** They are shut down; the drain shows how far that is. */
  stopping: ({
    id: string
    hostname: string
  })[]
  /** They run on, such as those on which a job works. Try again later. */
  refused: ({
    id: string
    hostname: string
    reason: string
  })[]
}

export type Event = {
  id: string
  /** The type of the event; `GET /event-types` lists all. */
  type: string
  created_at: string
  /** What the event carries. docs/webhooks.md lists the fields of each type. */
  data: Record<string, unknown>
}

export type EventCustomer = {
  id: string
  email: string
  name: string
  externalId: string | null
}

export type EventGpuInstance = {
  id: string
  name: string
  status: string
  offerId: string
  billingProductId: string | null
  location: LocationReference
  address: string | null
  createdAt: string
  billingServiceId: string | null
}

export type EventPage = {
  data: (Event)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type EventServer = {
  id: string
  hostname: string
  status: string
  package: string
  location: LocationReference
  ipv4: string | null
  billingServiceId: string | null
}

export type EventType = {
  type: string
  /** When it happens. */
  words: string
  /** The kinds of accounts that get it. */
  audience: ("staff" | "reseller" | "customer")[]
}

export type FileSystems = {
  /** When its guest agent told it; null: none has. */
  seenAt: string | null
  fileSystems: ({
    /** Where it is mounted. The guest can claim anything. */
    path: string
    device: string
    /** Such as ext4. */
    kind: string
    usedBytes: number
    totalBytes: number
  })[]
}

export type Firewall = {
  id: string
  ownerId: string
  name: string
  rules: (FirewallRule)[]
  /** The servers that have it. */
  serverIds: (string)[]
  createdAt: string
}

export type FirewallChanged = {
  /** The job that brings it to the node; null: nothing is installed. */
  jobId: string | null
  firewall: ServerFirewall
}

export type FirewallCounters = {
  at: string
  rules: ({
    id: string
    packets: number
    bytes: number
  })[]
  dropped: ({
    reason: string
    packets: number
  })[]
  drops: ({
    direction: "in" | "out"
    remote: string
    protocol: number
    port: number | null
    packets: number
    secondsAgo: number
  })[]
}

export type FirewallPage = {
  data: (Firewall)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type FirewallRule = {
  id: string
  name: string
  direction: "in" | "out"
  action: "accept" | "drop"
  protocol: "any" | "tcp" | "udp" | "icmp" | "icmpv6" | number
  ports: (string)[]
  remotes: (string)[]
}

export type FirewallRuleBody = {
  name?: OneLineOfVisibleText0To100
  direction: "in" | "out"
  action: "accept" | "drop"
  /** A number is one of the protocol numbers of IP; any without one. */
  protocol?: "any" | "tcp" | "udp" | "icmp" | "icmpv6" | number
  /** Destination ports and ranges, such as 80 or 8000-8080, of TCP and UDP; every port without them. */
  ports?: (string)[]
  /** Addresses or CIDRs of the other side, of both versions; everybody without them. */
  remotes?: (string)[]
}

export type FloatingIp = {
  id: string
  name: string
  address: string
  version: 4 | 6
  location: LocationReference
  owner: {
    id: string
    name: string
  }
  /** The server that it points to; null: none. */
  server: {
    id: string
    hostname: string
  } | null
  /** The job that moves it now. */
  jobId: string | null
  createdAt: string
}

export type FloatingIpMoved = {
  /** The job that moves it. While the node of the server that has it is away, the address cannot be taken from it: the job waits up to 15 minutes, or until staff declare the node lost. Null: it points there already. */
  jobId: string | null
  floatingIpId: string
}

export type FloatingIpPage = {
  data: (FloatingIp)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type GpuCard = {
  id: string
  nodeId: string
  /** The name that its driver gives it. */
  uuid: string
  model: string
  memoryMb: number
  bus: string
  driver: string
  serial: string
  nvlinks: number
  mig: "none" | "off" | "on"
  /** Staff let it be sold. */
  open: boolean
  /** checking: it waits for a check or is in one, and is sold when it passes. broken: see problems. missing: its node does not report it any more. */
  state: "free" | "held" | "checking" | "closed" | "broken" | "missing"
  /** Why it cannot be sold, in words. */
  problems: (string)[]
  /** Since when it is missing, or its node says that it is broken. */
  since: string | null
  /** The last check; null: none yet. */
  checkedAt: string | null
  /** So much of its memory was cleared then, and proved clear. */
  clearedMb: number | null
  /** Its memory throughput then; null: it was not measured. */
  memoryGbPerSecond: number | null
  /** The instance that has it, whether that runs or not; for those who may see instances. */
  heldBy: {
    id: string
    name: string | null
    hostname: string | null
    ownerId: string | null
  } | null
}

export type GpuCheckStarted = {
  jobId: string
}

export type GpuHost = {
  nodeId: string
  name: string
  location: LocationReference
  connected: boolean
  /** When the host, which is away, was last connected; null while it is connected. */
  seenAt: string | null
  /** It takes new GPU instances. Whether it takes servers is said by the node. */
  open: boolean
  /** Its container engine; with a problem it runs no instances. Null: it reports none. */
  engine: {
    name: string
    version: string
    problems: (string)[]
  } | null
  /** Where mapped ports are reached; null: as the node names it. */
  publicAddress: string | null
  /** Where mapped ports are reached now. */
  address: string | null
  /** New instances get mapped ports from this one on. */
  firstPort: number
  lastPort: number
  heldPorts: number
  /** HTTP ports of instances have names under it; null: they have none. */
  httpDomain: string | null
  /** Whether the host serves these names; see httpProblem. Null: no domain. */
  httpState: "waiting" | "served" | "failed" | null
  /** Why it does not, in words. */
  httpProblem: string | null
  /** Of which instances have heldVcpus. */
  vcpus: number
  heldVcpus: number
  cards: (GpuCard)[]
}

export type GpuHostPage = {
  data: (GpuHost)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type GpuImage = {
  id: string
  name: string
  description: string | null
  /** The picture beside its name. */
  icon: "terminal" | "book" | "activity" | "image" | "globe" | "gpu" | "package" | null
  /** Instructions for what it runs. */
  docsUrl: string | null
  /** Its instances start Jupyter, with a token of their own. */
  jupyter: boolean
  /** The port of the container that is the way in; null: that of Jupyter. */
  opensPort: number | null
  /** Registry, name and digest; it never changes. */
  reference: string
  /** The compressed layers together may have so many MiB. */
  mostMb: number
  /** In place of the image's own command; null: that. */
  command: (string)[] | null
  /** NAME=value each. */
  environment: (string)[]
  /** Ports of the container beside those of SSH and Jupyter. */
  ports: (number)[]
  /** Null: its registry asks for no login. */
  registryUsername: string | null
  /** No new instance runs it. */
  archived: boolean
  /** That run it. */
  instances: number
}

export type GpuImagePage = {
  data: (GpuImage)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type GpuInstance = {
  id: string
  number: number
  name: string
  /** Of the container. */
  hostname: string
  status: "creating" | "running" | "stopped" | "suspended" | "failed" | "deleting" | "deleted"
  /** Why setting it up, starting or changing it failed, in words. */
  failure: string | null
  /** Only for its owner and those who manage it. */
  suspendReason: string | null
  /** How it ended last; it may run again since. */
  lastEnd: {
    at: string
    /** requested: somebody stopped it. crashed: it ended by itself. */
    reason: "requested" | "crashed"
    /** Null: not known. */
    exitCode: number | null
    /** It was killed because its memory was full. Null: not known. */
    oomKilled: boolean | null
    /** Of one that ended by itself, in words. */
    detail: string | null
  } | null
  /** Your access: it is your own or in your care, or its owner gave you this role on it. */
  access: "own" | "view" | "operate" | "manage"
  /** The address is not for those with whom it is shared. */
  owner: {
    id: string
    name: string
    email: string | null
  }
  offerId: string
  offer: Named
  /** That of its offer. */
  billingProductId: string | null
  /** The billing system's own identifier of it. Only for its owner and those who manage it. */
  billingServiceId: string | null
  location: LocationReference
  /** Staff only. */
  node: Named | null
  /** Why it is on this host. Staff only. */
  placement: string | null
  /** Its own IPv4 address, or that of its host. */
  address: string | null
  /** The address is its own: every port leads to it. */
  ownAddress: boolean
  /** Ports of the container, and the ports of the address that lead to them; empty where every port does. */
  ports: ({
    container: number
    host: number
  })[]
  /** Ports of the container with an HTTP name of their own. */
  httpPorts: ({
    port: number
    url: string
  })[]
  /** The domain of these names; null: its host serves none. */
  httpDomain: string | null
  sshCommand: string | null
  /** A link that opens Jupyter as root; null: its image has none, or you may only look. */
  jupyterUrl: string | null
  image: GpuInstanceImage
  /** The way in that its image names, in a browser; null: it names none. */
  openUrl: string | null
  /** Of its offer, as it is now; null: none is shown to you. */
  price: Price | null
  /** From which it can be made anew. */
  images: (Named)[]
  cards: ({
    model: string
    memoryMb: number
    /** Staff only. */
    uuid: string | null
  })[]
  vcpus: number
  memoryMb: number
  /** The size of /workspace in GiB. */
  workspaceGb: number
  /** Variables as `NAME=value` that were set beside those of the image. Only for its owner and those who manage it. */
  environment: (string)[] | null
  /** Null: the command of its image. */
  command: (string)[] | null
  /** The keys that root login accepts, as they were when they were chosen. */
  sshKeys: ({
    id: string
    name: string
    fingerprint: string
  })[]
  /** What its host does when it ends by itself. */
  restartPolicy: "always" | "on_failure" | "never"
  /** The job that holds it now. */
  job: {
    id: string
    kind: string
    progress: number
  } | null
  /** Its owner or you are a locked customer, so it cannot be changed. */
  locked: boolean
  /** While its host is away it runs on, but cannot be changed. */
  nodeConnected: boolean
  /** When its host, which is away, was last connected. */
  nodeSeenAt: string | null
  /** What its state allows now, of what you may do with it: for buttons. */
  allowed: (string)[]
  createdAt: string
  terminatedAt: string | null
}

/** All GPU instances that fit, as `gpu-instances.list-all` has them; an empty one is every GPU instance. */
export type GpuInstanceFilter = {
  /** Part of a name, address or owner, an id, or the billing system's identifier. */
  q?: string
  /** Only instances in this state. Deleted ones are listed only when they are asked for, and only for staff. */
  status?: "creating" | "running" | "stopped" | "suspended" | "failed" | "deleting" | "deleted"
  /** Only instances that pages show in this state: as `status`, but while its host is away, one is `unreachable` and in no other state. */
  state?: "creating" | "running" | "stopped" | "suspended" | "failed" | "deleting" | "deleted" | "unreachable"
  /** Only instances of this customer. */
  ownerId?: string
  /** Only instances in this location. */
  locationId?: string
  /** Only instances of this offer. */
  offerId?: string
  /** Only instances with exactly this identifier of the billing system's own. */
  billingServiceId?: string
  /** Only instances on this host. */
  nodeId?: string
  /** Only instances of this reseller and its customers. */
  resellerId?: string
}

export type GpuInstanceImage = {
  id: string
  name: string
  /** Instructions for what it runs. */
  docsUrl: string | null
}

export type GpuInstancePage = {
  data: (GpuInstance)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type GpuLimit = {
  customerId: string
  gpuLimit: number
}

export type GpuOffer = {
  id: string
  name: string
  /** Of its cards, as the nodes report it. */
  model: string
  cards: number
  vcpus: number
  memoryMb: number
  /** The size of /workspace, which stays when an instance is made anew. */
  workspaceGb: number
  /** An instance has an IPv4 address of its own, with all ports. */
  ownIpv4: boolean
  /** Ports of the host that lead to an instance without an address, that of SSH among them. */
  ports: number
  /** Customers and resellers may order it themselves. */
  selfService: boolean
  /** Shown at the order; null: none. Nothing is computed from it. */
  price: string | null
  currency: string | null
  /** The time that the price is for. */
  pricePer: "hour" | "month"
  /** Free text, such as vendor:number. */
  billingProductId: string | null
  /** It can no longer be ordered. */
  archived: boolean
  /** An order that names none gets the first that is not archived. */
  images: ({
    id: string
    name: string
    archived: boolean
  })[]
  locations: (GpuOfferLocation)[]
  instances: number
}

export type GpuOfferLocation = {
  id: string
  name: string
  /** An order there is accepted now. */
  available: boolean
  /** So many orders are accepted there now, one after another; 1000 and more are 1000. */
  free: number
}

export type GpuSpell = {
  state: "running" | "stopped" | "suspended"
  from: string
  to: string
}

export type GpuStockLine = {
  offerId: string
  offerName: string
  billingProductId: string | null
  location: LocationReference
  /** So many orders are accepted now, one after another. */
  available: number
  /** Counting stopped there; there may be more. */
  orMore: boolean
  /** What binds the number. */
  limit: "reconnecting" | "addresses" | "memory" | "vcpus" | "disk" | "ports" | "cards" | "disconnected" | "closed" | "no_node" | "quota" | "suspended"
  /** The code that refuses the order behind the last one. */
  code: string
}

export type GpuTemplate = {
  id: string
  name: string
  description: string | null
  /** The picture beside its name. */
  icon: "terminal" | "book" | "activity" | "image" | "globe" | "gpu" | "package" | null
  /** Instructions for what it runs. */
  docsUrl: string | null
  /** Its instances start Jupyter, with a token of their own. */
  jupyter: boolean
  /** The port of the container that is the way in; null: only SSH. */
  opensPort: number | null
  /** Ports of the container that are reached, SSH first. */
  ports: (number)[]
}

export type GpuUsage = {
  instanceId: string
  /** Its name now. */
  name: string
  /** At the end of the period, as are its reseller and its offer. */
  hostname: string
  owner: UsageOwner
  /** Null in the answers to customers. */
  resellerId: string | null
  offer: {
    id: string | null
    name: string | null
  }
  /** Of its offer. */
  billingProductId: string | null
  billingServiceId: string | null
  /** The beginning of the period. */
  from: string
  /** Its end, which is not part of it; never later than now. */
  to: string
  /** How long it existed in the period, exact to the millisecond: its cards, ports and address were held. */
  allocatedSeconds: number
  runningSeconds: number
  /** With the time in which it was set up, or had failed. */
  stoppedSeconds: number
  /** From the moment at which the suspension was requested. */
  suspendedSeconds: number
  /** Each spell in the order of time, cut to the period. */
  intervals: (GpuSpell)[]
  /** When it was deleted, or left this owner; null: not in the period. */
  endedAt: string | null
}

export type GpuUsagePage = {
  data: (GpuUsage)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type GroupMended = {
  /** Null where nothing is installed: it is moved at once. */
  jobId: string | null
  transferId: string
  server: {
    id: string
    hostname: string
  }
  to: {
    id: string
    name: string
  }
}

export type HoldingCause = {
  /** The id of an operation, or the kind of a job. */
  action: string
  /** The name of who called it or started the job. */
  by: string
  jobId: string | null
}

export type IdleStop = {
  instanceId: string
  /** It is stopped after so many minutes without use; null: it is not. */
  minutes: number | null
  /** How long no program has run on its cards; null: one runs, or its host does not tell. */
  idleSeconds: number | null
}

export type Image = {
  id: string
  name: string
  origin: "catalogue" | "imported"
  catalogueId: string | null
  format: "qcow2" | "raw"
  checksum: string
  sizeBytes: number
  /** The smallest disk that it fits on. */
  minDiskGb: number
  /** The user to sign in as. */
  user: string
  /** It can be ordered. */
  published: boolean
  /** An order form chooses it first; at most one image is. */
  isDefault: boolean
  /** Rescue systems start from it; at most one image is. */
  isRescue: boolean
  /** windows: prepared with cloudbase-init. It gets its data as a config drive, and the user Administrator. */
  os: "linux" | "windows"
  /** uefi_secure: UEFI with Secure Boot and the keys of Microsoft. */
  firmware: "bios" | "uefi" | "uefi_secure"
  /** q35 is the newer one. */
  machine: "q35" | "pc"
  /** The version of cloud-init network-config that its system gets. v1 is for most systems. v2 is for netplan with cloud-init before 23.1, such as Debian 12, which loses gateways outside the network of an address in v1. Windows ignores it. */
  networkConfig: "v1" | "v2"
  /** It has a TPM 2.0. */
  tpm: boolean
  createdAt: string
  /** When its distribution was last asked for the current build. Null: not yet, or it comes from no distribution. */
  checkedAt: string | null
  /** Why the distribution could not say; null: it could. */
  checkFailure: string | null
  /** How its checksum was verified before nodes compare files with it. */
  verification: {
    /** signature: the list with its checksum is signed by its distribution. https: the list came from its distribution's server by HTTPS, without a signature. import: the controller computed it from the file. */
    by: "signature" | "https" | "import"
    /** Of the key that signed; null without a signature. */
    fingerprint: string | null
    signedAt: string | null
    /** The same as a sentence, with the reason where no signature is verified. */
    words: string
  }
  servers: number
}

export type ImageBuilds = {
  image: Image
  builds: ({
    checksum: string
    url: string
    sizeBytes: number
    foundAt: string
    /** How its checksum was verified before nodes compare files with it. */
    verification: {
      /** signature: the list with its checksum is signed by its distribution. https: the list came from its distribution's server by HTTPS, without a signature. import: the controller computed it from the file. */
      by: "signature" | "https" | "import"
      /** Of the key that signed; null without a signature. */
      fingerprint: string | null
      signedAt: string | null
      /** The same as a sentence, with the reason where no signature is verified. */
      words: string
    }
    /** Servers are installed from this one now. */
    current: boolean
    servers: number
  })[]
}

export type Import = {
  id: string
  kind: "solusvm2" | "virtualizor" | "demo"
  /** The name of the other panel. */
  panel: string
  address: string
  /** It can be changed or cleared at any time. */
  name: string | null
  status: "draft" | "discovering" | "mapping" | "checking" | "ready" | "migrating" | "verifying" | "finished" | "cancelled"
  /** They are deleted when the import is finished. */
  hasCredentials: boolean
  /** The certificate that nobody vouches for. Compare it with the one on the panel, and call trust. */
  asksFor: ImportCertificate | null
  /** SHA-256 of the certificate that is trusted. */
  trusted: string | null
  /** Why the last reading ended early. What was known before still counts. */
  trouble: {
    code: string
    message: string
    at: string
  } | null
  /** What the panel said about the credentials. */
  warnings: (string)[]
  accountName: string | null
  /** While it is discovering. applying: the whole panel was read, and it is compared with what is here. */
  phase: "reading" | "applying" | null
  /** Of the reading. */
  progress: ({
    list: string
    read: number
    total: number | null
  })[]
  /** To the other panel since the import was begun: all of them read. refused: those that failed. */
  sent: {
    requests: number
    refused: number
    longestMs: number
  }
  /** How many servers are in each state. */
  servers: {
    total: number
    waiting: number
    left_out: number
    refused: number
    ready: number
    moving: number
    moved: number
    failed: number
    rolled_back: number
    already_moved: number
  }
  /** GiB of the disks of the servers that are to come over, as the other panel counts. */
  diskGb: number
  /** What servers wait for. */
  left: {
    /** Of all parts together. */
    decisions: number
    packages: {
      rows: number
      servers: number
    }
    ranges: {
      rows: number
      servers: number
    }
    hypervisors: {
      rows: number
      servers: number
    }
    owners: {
      rows: number
      servers: number
    }
    /** Servers whose addresses or billing ids are in use here or twice there, or exceed the quota of a reseller. */
    conflicts: number
  }
  /** Between the last reading and the one before. */
  changes: {
    new: number
    gone: number
    changed: number
  }
  billing: {
    /** Of an owner: becomes the external id of the customer. */
    externalId: "none" | "billing_id" | "source_id"
    /** Of a server. */
    billingServiceId: "none" | "billing_id" | "source_id"
    /** Of a package that is made like one of the other panel. */
    billingProductId: "none" | "billing_id" | "source_id"
  }
  /** Counts changes of what is decided. */
  mappingVersion: number
  /** Owners and addresses were compared with what is here since the last change. It takes seconds. */
  isCompared: boolean
  /** What can be done with it now. */
  actions: (string)[]
  startedBy: {
    id: string
    name: string
  }
  createdAt: string
  discoveredAt: string | null
  checkedAt: string | null
  startedAt: string | null
  endedAt: string | null
  limits: ImportLimits
  /** Owners are told by mail, as the messages of the import say. */
  emailsOwners: boolean
  /** No further server begins; those at work come to their end. */
  pausedAt: string | null
  /** Servers that had not begun by then stay at the source. */
  stopsAfter: string | null
  /** When the last of its servers came to an end. */
  migratedAt: string | null
}

export type ImportAccess = {
  /** The id in the other panel. */
  hypervisorId: string
  name: string
  /** At which nodes reach it, on port 22. Null: its name leads nowhere. */
  address: string | null
  way: "copy" | "adopt"
  /** Of adopt: the node that it is. It needs no access. */
  node: {
    id: string
    name: string
  } | null
  /** Of copy: the nodes that copy from it. */
  nodes: ({
    id: string
    name: string
    isConnected: boolean
    /** Its key is known; a node makes it when it connects. */
    hasKey: boolean
    /** What its last log-in came to: works, or the code of a finding. Null: none was tried. */
    login: "works" | "uefi" | "other_machine" | "disks" | "disk_format" | "bad_domain" | "snapshots_adopted" | "backing_file_adopted" | "undecided" | "address_conflict" | "claim_conflict" | "domain_twice" | "no_login" | "host_key_changed" | "hypervisor_unreachable" | "ssh_too_old" | "libvirt_silent" | "look_failed" | "node_away" | "agent_outdated" | "not_running" | "paused" | "no_such_domain" | "disk_unreadable" | "disk_too_large" | "no_room" | "no_addresses" | "stopped" | "suspended" | "in_rescue" | "backing_file" | "no_mac" | "more_cards" | "other_mac" | "other_cpu" | "other_bus" | "no_such_device" | "host_devices" | "snapshots" | "maybe_windows" | "no_guest_agent" | null
    words: string | null
    at: string | null
    /** It tries to log in now. */
    isAsked: boolean
  })[]
  /** Nodes whose last log-in worked. */
  working: number
  /** To run there once as root instead of giving its password: it adds the key of each of these nodes, and is safe to run twice. Null: no node has told its key yet. */
  command: string | null
  /** The fingerprint of its SSH server. Nodes accept no other. */
  hostKey: string | null
  /** As it calls itself. */
  system: string | null
  /** Megabit per second that came from it to a node when that was measured. */
  linkMbps: number | null
}

export type ImportAccessPage = {
  data: (ImportAccess)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type ImportCertificate = {
  sha256: string
  /** The same as people compare it: pairs of digits with colons. */
  fingerprint: string
  subject: string
  issuer: string
  validUntil: string | null
  /** Another one was trusted before. Find out why it changed. */
  isChanged: boolean
}

export type ImportChange = {
  list: "servers" | "packages" | "ranges" | "hypervisors" | "owners"
  sourceId: string
  change: "new" | "gone" | "changed"
  name: string
  /** What has changed. */
  words: string
}

export type ImportChangePage = {
  data: (ImportChange)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type ImportCheck = {
  /** remark: it can come. to_fix: it can come once something was done. stays: it cannot. Null: its node looks at it. */
  result: "ready" | "remark" | "to_fix" | "stays" | null
  findings: ({
    code: string
    level: "remark" | "to_fix" | "stays"
    words: string
    /** The next step; empty where there is none. */
    remedy: string
  })[]
  /** Where it would go, placed one after another like new orders. Null: no node takes it. */
  node: {
    id: string
    name: string
  } | null
  /** The storage pool there. */
  pool: string | null
  /** Why it goes there. */
  reason: string | null
  /** Addresses that it gets from the pools of its node. */
  newIpv4: number
  isRunning: boolean | null
  /** As its node has found it on the hypervisor. */
  disk: {
    format: string | null
    bus: string | null
    path: string | null
    bytes: number
    /** What holds data. */
    usedBytes: number | null
  } | null
  machine: string | null
  /** Of the network card that comes over. */
  mac: string | null
  /** short_stop: copied while it runs, and what has changed once it is off. plain: copied while it is off. */
  method: "short_stop" | "plain" | null
  /** An estimate, no promise. */
  copySeconds: number | null
  /** How long it would be away. An estimate, no promise. */
  awaySeconds: number | null
  at: string
}

export type ImportChecksAsked = {
  servers: number
}

export type ImportCleanUps = {
  /** Nothing of the import is left on the hypervisors, as far as anybody knows. */
  isDone: boolean
  hypervisors: ({
    hypervisorId: string
    name: string
    /** Null: it is a node. */
    address: string | null
    /** given_up: it was tried for a week; a person removes the rest. */
    state: "waiting" | "done" | "given_up"
    definitionsLeft: number
    definitionsRemoved: number
    /** The nodes whose keys are removed there. */
    keysOf: (string)[]
    keysRemoved: number
    /** Why it has not ended. */
    words: string | null
    since: string
    nextTryAt: string | null
    endedAt: string | null
    /** To run there as root instead; safe to run twice. */
    commands: (string)[]
  })[]
}

export type ImportDryRun = {
  isRunning: boolean
  /** While it runs. */
  phase: "clearing" | "comparing" | "checking" | null
  /** Something was decided since, or the panel was read anew. Run it again. */
  isOutdated: boolean
  beganAt: string | null
  /** Null: none has come to its end since the panel was read. */
  endedAt: string | null
  /** What a dry run does not see. */
  words: string
  servers: {
    total: number
    ready: number
    /** They can come; something about each is worth knowing. */
    remark: number
    /** They can come once something was done. */
    toFix: number
    /** They cannot come. */
    stays: number
    leftOut: number
    alreadyMoved: number
    /** Not looked at yet. */
    unchecked: number
  }
  /** The worst first, then those of most servers. */
  findings: ({
    code: string
    level: "remark" | "to_fix" | "stays"
    /** … stands for what differs from server to server. */
    words: string
    /** The next step; empty where there is none. */
    remedy: string
    servers: number
  })[]
  /** Of the disks of servers that can come. */
  diskBytes: number
  /** What of them is copied: holes are skipped. */
  usedBytes: number
  /** Addresses that copies get from the pools of their nodes. */
  newIpv4: number
  /** Where they would go. */
  nodes: ({
    id: string
    name: string
    servers: number
    memoryMb: number
    diskGb: number
    newIpv4: number
    /** In the pools that it routes; other nodes may route them too. */
    freeIpv4: number
  })[]
  hypervisors: ({
    id: string
    name: string
    servers: number
    /** Of all its copies, one after another. */
    copySeconds: number
    bytesPerSecond: number
    /** False: the usual speed, because none was measured. */
    isMeasured: boolean
  })[]
  /** Of the hypervisor that takes the longest. An estimate, no promise. */
  copySeconds: number
  /** The server that is away the longest. */
  longest: {
    serverId: string
    hostname: string
    awaySeconds: number
  } | null
}

export type ImportFinish = {
  title: string
  isPossible: boolean
  /** Why it cannot be finished now. */
  reason: string | null
  /** They are deleted, here and from every backup that is made afterwards. */
  hasCredentials: boolean
  /** Servers that can still be rolled back, until then. */
  canGoBack: number
  /** Servers with an open check. */
  openChecks: number
  /** Servers that stay on the other panel. A new import can take them. */
  stays: {
    refused: number
    leftOut: number
    failed: number
    waiting: number
  }
  /** Keys of nodes that are removed on hypervisors. */
  keys: {
    nodes: number
    hypervisors: number
  }
  /** Definitions kept on hypervisors that are deleted there. */
  definitions: number
}

export type ImportFleet = {
  /** The hypervisor for the next import, by its id in the other panel. */
  next: string | null
  /** In the order in which they are moved. */
  hypervisors: ({
    hypervisorId: string
    name: string
    address: string
    /** The panel itself runs on it. */
    isPanel: boolean
    turn: "now" | "next" | "later" | "last" | "done" | "stays"
    words: string
    moved: number
    /** By earlier imports. */
    movedBefore: number
    /** Servers that are still there. */
    left: number
    canCome: number
    /** The software of the other panel may be removed there. */
    mayRemove: boolean
    /** Why it must stay. */
    keep: (string)[]
  })[]
}

export type ImportHypervisor = {
  /** The id in the other panel; `unknown` for everything that it does not name. */
  sourceId: string
  name: string | null
  /** All that it has there. */
  servers: number
  /** Without those that stay in any case. */
  importable: number
  /** Nobody has decided; it is what is right in most cases. */
  isProposed: boolean
  /** The choices: the effect of each, or why it cannot be made. */
  offers: ({
    choice: string
    isOffered: boolean
    words: string
  })[]
  address: string
  addresses: (string)[]
  isPanel: boolean
  network: "bridged" | "routed" | null
  bridges: (string)[]
  /** As the other panel calls it. */
  locationThere: string | null
  diskGb: number
  choice: "copy" | "adopt" | "leave_out" | null
  /** The location of copies. */
  goesTo: {
    id: string
    name: string
  } | null
  /** The node that it is, by its address. */
  node: {
    id: string
    name: string
  } | null
}

export type ImportHypervisorPage = {
  data: (ImportHypervisor)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type ImportKeysAdded = {
  jobId: string
  /** The node that signs in. */
  node: {
    id: string
    name: string
  }
  /** Keys that are added; one that is there already stays as it is. */
  keys: number
}

export type ImportLeftOut = {
  changed: number
}

export type ImportLimits = {
  /** Servers that leave one hypervisor at once. */
  perHypervisor: number
  /** Servers that come to one node at once. */
  perNode: number
  /** Of each copy. Null: as fast as it goes. */
  maxMbps: number | null
  /** Servers begin within these hours alone; those at work come to their end. Null: at any time. */
  window: {
    from: string
    to: string
    timeZone: string
  } | null
  /** short_stop: copied while it runs, and what has changed once it is off. plain: copied while it is off. */
  method: "short_stop" | "plain"
}

export type ImportLog = {
  lines: ({
    n: number
    at: string
    level: "info" | "warning" | "error"
    text: string
  })[]
  status: "draft" | "discovering" | "mapping" | "checking" | "ready" | "migrating" | "verifying" | "finished" | "cancelled"
}

export type ImportMapping = {
  version: number
  billing: {
    /** Of an owner: becomes the external id of the customer. */
    externalId: "none" | "billing_id" | "source_id"
    /** Of a server. */
    billingServiceId: "none" | "billing_id" | "source_id"
    /** Of a package that is made like one of the other panel. */
    billingProductId: "none" | "billing_id" | "source_id"
  }
  packages: {
    /** That are not decided and that a server waits for. */
    rows: number
    /** That wait for one. */
    servers: number
    /** How many rows have each choice. */
    choices: ({
      choice: string | null
      isProposed: boolean
      rows: number
    })[]
  }
  ranges: {
    /** That are not decided and that a server waits for. */
    rows: number
    /** That wait for one. */
    servers: number
    /** How many rows have each choice. */
    choices: ({
      choice: string | null
      isProposed: boolean
      rows: number
    })[]
  }
  hypervisors: {
    /** That are not decided and that a server waits for. */
    rows: number
    /** That wait for one. */
    servers: number
    /** How many rows have each choice. */
    choices: ({
      choice: string | null
      isProposed: boolean
      rows: number
    })[]
  }
  owners: {
    /** That are not decided and that a server waits for. */
    rows: number
    /** That wait for one. */
    servers: number
    /** How many rows have each choice. */
    choices: ({
      choice: string | null
      isProposed: boolean
      rows: number
    })[]
  }
}

export type ImportMessageTested = {
  to: string
}

export type ImportMessages = {
  /** Owners are told by mail. Off: nobody is. */
  emailsOwners: boolean
  before: {
    /** It goes out by itself, as long as owners are told at all. */
    isOn: boolean
    subject: string
    text: string
    /** What can stand in braces, and what it becomes. */
    placeholders: Record<string, string>
    /** So many have got it. */
    told: number
    /** As it would go out, with made-up addresses. The name of the reader and the brand come with the mail. */
    preview: {
      subject: string
      paragraphs: (string)[]
    }
  }
  during: {
    /** It goes out by itself, as long as owners are told at all. */
    isOn: boolean
    subject: string
    text: string
    /** What can stand in braces, and what it becomes. */
    placeholders: Record<string, string>
    /** So many have got it. */
    told: number
    /** As it would go out, with made-up addresses. The name of the reader and the brand come with the mail. */
    preview: {
      subject: string
      paragraphs: (string)[]
    }
  }
  after: {
    /** It goes out by itself, as long as owners are told at all. */
    isOn: boolean
    subject: string
    text: string
    /** What can stand in braces, and what it becomes. */
    placeholders: Record<string, string>
    /** So many have got it. */
    told: number
    /** As it would go out, with made-up addresses. The name of the reader and the brand come with the mail. */
    preview: {
      subject: string
      paragraphs: (string)[]
    }
  }
  /** Owners of servers that are ready to come, by their addresses. */
  toAnnounce: number
  /** New accounts with a server here that were not invited yet. */
  toInvite: number
}

export type ImportMessagesSent = {
  sent: number
  /** Call it again for these: 500 go out at once. */
  left: number
}

export type ImportMove = {
  serverId: string
  hostname: string
  /** waiting: it begins when the limits of the import let it. */
  state: "waiting" | "moving" | "moved" | "failed" | "rolling_back" | "rolled_back"
  /** What happens now, in words. */
  phase: string | null
  /** Of its job. */
  percent: number | null
  /** nowhere: it is off on its way. unknown: its node is away. */
  whereItRuns: "source" | "here" | "nowhere" | "unknown"
  hypervisor: {
    id: string
    name: string
  }
  /** The node that takes it. */
  node: {
    id: string
    name: string
  } | null
  way: "copy" | "adopt"
  method: "short_stop" | "plain"
  /** The server here. */
  workloadId: string | null
  /** Of the last attempt; its log has every command at the source. */
  jobId: string | null
  /** Of all attempts, the first one first. */
  jobIds: (string)[]
  /** As its guest agent says it here; before that answers, as the other panel did. */
  osName: string | null
  /** Why the last attempt failed. It runs at its source as before, unless whereItRuns says otherwise. */
  failure: {
    code: string
    words: string
    nextStep: string
  } | null
  /** Of its disk at the source. */
  bytesTotal: number | null
  bytesCopied: number | null
  /** Now. */
  bytesPerSecond: number | null
  /** Of the copy, an estimate. */
  secondsLeft: number | null
  /** As the dry run said. */
  expectedAwaySeconds: number | null
  /** How long it was off; while it is off, so far. */
  downtimeMs: number | null
  beganAt: string | null
  /** When it was shut down at its source. */
  stoppedAt: string | null
  /** When it was started here. */
  startedAt: string | null
  movedAt: string | null
  failedAt: string | null
}

export type ImportMovePage = {
  data: (ImportMove)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type ImportOwner = {
  /** The id in the other panel; `unknown` for everything that it does not name. */
  sourceId: string
  name: string | null
  /** All that it has there. */
  servers: number
  /** Without those that stay in any case. */
  importable: number
  /** Nobody has decided; it is what is right in most cases. */
  isProposed: boolean
  /** The choices: the effect of each, or why it cannot be made. */
  offers: ({
    choice: string
    isOffered: boolean
    words: string
  })[]
  email: string | null
  kind: "customer" | "staff" | "reseller"
  parentId: string | null
  isSuspended: boolean
  billingId: string
  /** Why somebody has to decide. */
  conflict: "none" | "customer" | "reseller" | "staff" | "twice" | "external_id" | "unknown"
  /** The account here that has the address. */
  account: {
    id: string
    name: string
    kind: string
    isLocked: boolean
  } | null
  choice: "create" | "merge" | "separate" | "client_area" | "existing" | "one_account" | "leave_out" | null
  /** The account that was chosen. */
  accountId: string | null
  resellerId: string | null
  createdAccountId: string | null
  /** The address of the account that would be made. */
  newEmail: string | null
  /** Of that account. */
  externalId: string | null
  /** Why an earlier choice does not hold any more. */
  lapsed: string | null
}

export type ImportOwnerPage = {
  data: (ImportOwner)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type ImportPackage = {
  /** The id in the other panel; `unknown` for everything that it does not name. */
  sourceId: string
  name: string | null
  /** All that it has there. */
  servers: number
  /** Without those that stay in any case. */
  importable: number
  /** Nobody has decided; it is what is right in most cases. */
  isProposed: boolean
  /** The choices: the effect of each, or why it cannot be made. */
  offers: ({
    choice: string
    isOffered: boolean
    words: string
  })[]
  virtualization: string
  vcpus: number | null
  memoryMb: number | null
  diskGb: number | null
  portMbps: number | null
  trafficGb: number | null
  billingId: string
  /** GiB of disk that an own package needs for its servers. */
  leastDiskGb: number
  choice: "own" | "like" | "leave_out" | null
  /** The own one that was chosen. */
  package: {
    id: string
    name: string
  } | null
  /** Between the own package and the one there, in words. */
  difference: string | null
  /** The package that would be made like it. */
  like: Record<string, string | number | boolean | null>
}

export type ImportPackagePage = {
  data: (ImportPackage)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type ImportPage = {
  data: (Import)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type ImportPanel = {
  kind: "solusvm2" | "virtualizor" | "demo"
  label: string
  addressExample: string
  hint: string
  credentials: ({
    name: string
    label: string
    hint: string
    maxLength: number
  })[]
}

export type ImportPanels = {
  panels: (ImportPanel)[]
}

export type ImportPlan = {
  import: Import
  servers: {
    coming: number
    /** Of those that come: they wait for a decision. */
    undecided: number
    /** Of those that come: something here or there stands against them. */
    conflicts: number
    leftOut: number
    refused: number
    alreadyMoved: number
  }
  refusals: ({
    code: string
    servers: number
  })[]
  diskGb: number
  locations: ({
    id: string
    name: string
    servers: number
    diskGb: number
    memoryMb: number
    /** Addresses that copies need there. */
    newIpv4: number
    freeIpv4: number
  })[]
  adopted: ({
    hypervisorId: string
    nodeId: string
    name: string
    servers: number
  })[]
  packagesToMake: ({
    sourceId: string
    name: string
    servers: number
  })[]
  poolsToMake: ({
    sourceId: string
    name: string
    network: string | null
    servers: number
  })[]
  /** Of resellers for whom servers come, what is limited: used now, and what the import adds. */
  quotas: ({
    resellerId: string
    name: string
    resource: string
    used: number
    more: number
    limit: number
    isExceeded: boolean
  })[]
  accounts: {
    toMake: number
    /** Accounts that were chosen, the first 500. */
    toJoin: ({
      id: string
      name: string
      kind: string
      servers: number
      diskGb: number
      isLocked: boolean
    })[]
  }
}

export type ImportProgress = {
  servers: {
    total: number
    waiting: number
    moving: number
    moved: number
    failed: number
    rollingBack: number
    rolledBack: number
  }
  /** No server begins before the window opens again. */
  isWaitingForWindow: boolean
  /** Of the disks of all servers that move. */
  bytesTotal: number
  bytesCopied: number
  /** Of all copies together, now. */
  bytesPerSecond: number
  medianDowntimeMs: number | null
  longestDowntimeMs: number | null
  /** Servers that have moved and of which a time away was estimated. */
  announced: number
  /** Of these, those that were not away longer. */
  announcedKept: number
  /** An estimate, no promise. Null: nothing has moved yet. */
  secondsLeft: number | null
  startedAt: string | null
  migratedAt: string | null
}

export type ImportRange = {
  /** The id in the other panel; `unknown` for everything that it does not name. */
  sourceId: string
  name: string | null
  /** All that it has there. */
  servers: number
  /** Without those that stay in any case. */
  importable: number
  /** Nobody has decided; it is what is right in most cases. */
  isProposed: boolean
  /** The choices: the effect of each, or why it cannot be made. */
  offers: ({
    choice: string
    isOffered: boolean
    words: string
  })[]
  version: number
  first: string | null
  last: string | null
  network: string | null
  gateway: string | null
  reach: "public" | "internal" | "nat"
  hypervisorIds: (string)[]
  choice: "keep" | "new" | "pool" | "leave_out" | null
  poolId: string | null
}

export type ImportRangePage = {
  data: (ImportRange)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type ImportReportRow = {
  importServerId: string
  /** Of the server in the other panel. */
  oldId: string
  /** Of the server in the billing system, as the other panel has it. */
  oldBillingId: string
  hostname: string
  outcome: "moved" | "failed" | "stays" | "rolled_back" | "open"
  /** Why it failed or stays. */
  reason: string | null
  /** What is left to do, in words. */
  nextSteps: (string)[]
  oldProduct: {
    id: string
    name: string
    billingId: string
  }
  oldOwner: {
    id: string
    email: string | null
    billingId: string
  }
  oldAddresses: (string)[]
  /** The server here. Null: there is none. */
  server: {
    id: string
    hostname: string
    billingServiceId: string | null
    packageId: string
    packageName: string
    billingProductId: string | null
    ownerId: string
    ownerEmail: string
    externalId: string | null
    addresses: (string)[]
  } | null
  /** It has other addresses than before. */
  isReaddressed: boolean
  movedAt: string | null
}

export type ImportReportRowPage = {
  data: (ImportReportRow)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type ImportRollBack = {
  /** To be typed. */
  hostname: string
  isPossible: boolean
  /** Why it is not possible. */
  reason: string | null
  /** Everything that it has written since then is lost. */
  since: string | null
  /** About so much. Null: nobody has measured it. */
  bytesWritten: number | null
  way: "copy" | "adopt"
  /** The node that it is on. */
  node: string
  /** Its backups here, which stay. */
  backups: number
  backupsKeptDays: number
  /** Where the original starts, from the definition kept before the shut-down. */
  hypervisor: string
  /** The original starts. False: it was off before. */
  starts: boolean
  /** Back in their pools. */
  returnedAddresses: (string)[]
  /** At which it answers again. */
  oldAddresses: (string)[]
}

export type ImportRollingBack = {
  jobId: string
}

export type ImportRuleResult = {
  /** Rows that the filter selects. */
  matched: number
  changed: number
  /** False: only the first 1000 were decided. Call it again. */
  isComplete: boolean
  /** Rows that do not take the choice, the first 100. */
  withheld: ({
    sourceId: string
    name: string | null
    words: string
  })[]
}

export type ImportServer = {
  id: string
  importId: string
  /** The id in the other panel. */
  sourceId: string
  hostname: string
  domain: string | null
  /** waiting: for decisions or the dry run. refused: it stays in any case, see reason. */
  state: "waiting" | "left_out" | "refused" | "ready" | "moving" | "moved" | "failed" | "rolled_back" | "already_moved"
  /** Why it is refused, left out, or cannot be made here. */
  reason: string | null
  refusal: string | null
  leftOutBy: "server" | "package" | "hypervisor" | "range" | "owner" | null
  /** Decisions that it waits for. */
  undecided: number
  hypervisorId: string
  packageId: string
  ownerId: string
  vcpus: number | null
  memoryMb: number | null
  diskGb: number | null
  mac: string | null
  /** The template there in readable form; “Imported from …” where there is none. */
  os: string
  isSuspended: boolean
  isInRescue: boolean
  power: "running" | "stopped" | "unknown"
  billingId: string
  /** That it would have here. */
  billingServiceId: string | null
  addresses: ({
    address: string
    prefixLength: number | null
    /** replaced: by one of the pools of its node. dropped: a copy with new IPv4 addresses loses it. */
    becomes: "kept" | "replaced" | "dropped" | "undecided"
  })[]
  way: "copy" | "adopt" | null
  /** The location of a copy. */
  goesTo: {
    id: string
    name: string
  } | null
  /** Of an adopted server. */
  nodeId: string | null
  /** Null where nothing is decided, or where it is made when the import starts. */
  becomes: {
    packageId: string | null
    /** The account that gets it, where there is one already. */
    accountId: string | null
    /** The address of the account that is made for it. */
    newEmail: string | null
    /** Of that account. */
    externalId: string | null
  }
  /** Everything is decided, and nothing is known against it. */
  isComplete: boolean
  waitsFor: ("package" | "hypervisor" | "owner" | "range")[]
  /** The server here. */
  workloadId: string | null
  /** What the dry run has found. Null: it has not looked at it yet. */
  check: ImportCheck | null
}

export type ImportServerMove = {
  /** Null: it is not among the servers that are to be moved. */
  move: ImportMove | null
}

export type ImportServerPage = {
  data: (ImportServer)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type ImportUpload = {
  /** Decisions that change. */
  changed: number
  unchanged: number
  /** The first 200. */
  changes: ({
    line: number
    part: "packages" | "ranges" | "hypervisors" | "owners"
    sourceId: string
    name: string | null
    from: string | null
    to: string | null
  })[]
  /** Lines that cannot be used; the others are. */
  unusable: number
  /** The first 200. */
  faults: ({
    line: number
    words: string
  })[]
}

export type ImportVerification = {
  moved: number
  passed: number
  accepted: number
  open: number
  waiting: number
  /** Servers of the import that failed, or wait. */
  notMoved: number
  rolledBack: number
}

export type ImportVerified = {
  id: string
  hostname: string
  sourceId: string
  /** The server here. */
  workloadId: string | null
  /** Where it is now. */
  node: {
    id: string
    name: string
  } | null
  /** waiting: it was not checked yet. accepted: a person has marked it as fine. */
  result: "passed" | "accepted" | "open" | "waiting"
  /** Its first address here. */
  address: string | null
  /** Its first address at its source. */
  oldAddress: string | null
  isAddressNew: boolean
  checks: ({
    code: "ended" | "asked" | "runs" | "reached" | "addresses"
    result: "passed" | "open" | "skipped"
    words: string
    /** What a person does about it. */
    next: "check" | "accept" | "console" | "start" | "update_agent" | null
  })[]
  checkedAt: string | null
  /** It is checked now, or within seconds. */
  isAsked: boolean
  /** An open check is repeated by itself. */
  nextCheckAt: string | null
  /** Who has marked it as fine. */
  acceptedBy: string | null
  /** Where no guest agent gives its system its new addresses: the lines to run in its console. */
  byHand: {
    system: "linux" | "windows"
    lines: (string)[]
    /** How to make it last. */
    lasting: string
  } | null
}

export type ImportVerifiedPage = {
  data: (ImportVerified)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type InstallationCheck = {
  /** Null: nothing was seen, as on Windows, or where the guest did not answer. */
  check: {
    /** The installation. */
    jobId: string
    at: string
    addresses: ({
      address: string
      /** By ARP or neighbour discovery, or its guest agent has it. */
      answers: boolean
    })[]
    /** As its guest agent names it; null: none answered. */
    hostname: string | null
    /** Port 22 answered the node. */
    ssh: boolean
    /** How its SSH server lets root in; null: not known. */
    signIn: {
      password: boolean
      keys: boolean
    } | null
    /** What it lacks of what was ordered. */
    warnings: (string)[]
  } | null
}

export type InstallationStarted = {
  jobId: string
  serverId: string
  rootPassword?: string
}

export type InstanceChanged = {
  instanceId: string
}

export type InstanceJobStarted = {
  /** The job that was started; null where there is no work for a node. */
  jobId: string | null
  instanceId: string
}

export type InstanceLogs = {
  instanceId: string
  /** none: it has no container now. unreachable: its host does not answer. */
  state: "read" | "none" | "unreachable"
  /** The oldest first, as a screen shows them; logs.txt has them as they are. */
  lines: (string)[]
  /** Earlier lines were left out because there were too many. */
  truncated: boolean
  /** The lines came after `since`. false: they are the last ones; no cursor was given, or its host knows none. */
  continues: boolean
  /** The end of these lines: asked again with `since`, the log goes on from here. null: its host knows no cursors. */
  cursor: string | null
}

export type InstanceMetrics = {
  instanceId: string
  /** The start of the first step. */
  from: string
  /** The end of the last step. */
  to: string
  /** The length of a step. */
  resolutionSeconds: number
  /** In the order of their slots; one value per step, null where none is. */
  cards: (CardMetrics)[]
}

export type InstanceOrdered = {
  jobId: string | null
  /** Null only in the answer to a dry run. */
  instanceId: string | null
  /** Its own IPv4 address, or that of its host. */
  address: string | null
}

export type Iso = {
  id: string
  name: string
  /** Null: it is in the library of the provider, for everybody. */
  owner: {
    id: string
    name: string
  } | null
  /** Only for its owner and staff. */
  url: string | null
  checksum: string
  sizeBytes: number
  /** In the drives of how many servers it is. */
  servers: number
  createdAt: string
}

export type IsoPage = {
  data: (Iso)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type Job = {
  id: string
  /** Such as install, power or suspend; new ones may come. */
  kind: string
  /** What people call a job of this kind, such as Installation. */
  kindTitle: string
  title: string
  state: "queued" | "running" | "succeeded" | "failed"
  /** 0 to 100. */
  progress: number
  step: {
    n: number
    of: number
    name: string | null
  }
  /** As much as you may know: a provider is Staff to its customers, without an id. */
  startedBy: {
    type: "person" | "token" | "system"
    id: string
    name: string
  }
  nodeId: string | null
  nodeName: string | null
  /** The second node of a job that involves two. */
  otherNodeId: string | null
  otherNodeName: string | null
  serverId: string | null
  instanceId: string | null
  createdAt: string
  startedAt: string | null
  finishedAt: string | null
  /** The message may change. Staff read the words of the node; everybody else reads a plain cause. */
  error: {
    code: string
    message: string
  } | null
  /** It failed and is being undone, or is being retried: the error says why. */
  undoing: boolean
  /** It failed, and the rest of its undo waits until its node is back. */
  undoPending: boolean
  /** You may cancel it now. */
  cancellable: boolean
  /** Somebody asked to cancel it: it stops before its next step, and what it did is undone. */
  cancelled: {
    at: string
    by: {
      type: "person" | "token" | "system"
      id: string
      name: string
    }
  } | null
}

export type JobDetails = {
  id: string
  /** Such as install, power or suspend; new ones may come. */
  kind: string
  /** What people call a job of this kind, such as Installation. */
  kindTitle: string
  title: string
  state: "queued" | "running" | "succeeded" | "failed"
  /** 0 to 100. */
  progress: number
  step: {
    n: number
    of: number
    name: string | null
  }
  /** As much as you may know: a provider is Staff to its customers, without an id. */
  startedBy: {
    type: "person" | "token" | "system"
    id: string
    name: string
  }
  nodeId: string | null
  nodeName: string | null
  /** The second node of a job that involves two. */
  otherNodeId: string | null
  otherNodeName: string | null
  serverId: string | null
  instanceId: string | null
  createdAt: string
  startedAt: string | null
  finishedAt: string | null
  /** The message may change. Staff read the words of the node; everybody else reads a plain cause. */
  error: {
    code: string
    message: string
  } | null
  /** It failed and is being undone, or is being retried: the error says why. */
  undoing: boolean
  /** It failed, and the rest of its undo waits until its node is back. */
  undoPending: boolean
  /** You may cancel it now. */
  cancellable: boolean
  /** Somebody asked to cancel it: it stops before its next step, and what it did is undone. */
  cancelled: {
    at: string
    by: {
      type: "person" | "token" | "system"
      id: string
      name: string
    }
  } | null
  /** Why it failed or is being retried, in plain words. */
  cause: string | null
  /** In their order. A step that is undone has left nothing behind, unless data was lost. */
  steps: ({
    name: string
    state: "waiting" | "started" | "done" | "undone"
  })[]
  /** ahead: a failure or a cancellation undoes everything. passed: nothing is undone any more, and a step that fails is tried until it is done. Null: the job can be undone to its last step, or has ended. */
  pointOfNoReturn: "ahead" | "passed" | null
  /** Since when it waits for a node that is away. */
  waitingSince: string | null
  /** Of a failed job: data on the disk of its server was deleted and does not come back. */
  dataLost: boolean | null
  /** Of a failed job: the action of its server that does the same again, if the server allows it. */
  retry: string | null
  /** Of a failed job: when your provider was told of it, by a notice. Within a minute, unless it was cancelled. */
  providerToldAt: string | null
}

export type JobPage = {
  data: (Job)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type JobStarted = {
  /** The job that was started; null where there is no work for a node. */
  jobId: string | null
  serverId: string
}

export type Labels = {
  serverId: string
  labels: (string)[]
}

export type ListedService = {
  serverId?: string | null
  instanceId?: string | null
  billingServiceId?: string | null
  ownerExternalId?: string | null
  billingProductId?: string | null
  state?: "active" | "suspended" | "terminated" | null
}

export type Location = {
  id: string
  name: string
  /** Where a new server goes: to the node with the most free memory, or the least that is enough. */
  placement: "spread" | "fill"
  /** It takes new servers. */
  open: boolean
  /** The memory that orders leave free for the loss of a node, in `reserveUnit`; 0: none. Moves may use it. */
  reserve: number
  /** nodes: as much as the largest nodes have. percent: of the memory of its nodes. gb: GiB. */
  reserveUnit: "nodes" | "percent" | "gb"
  /** The CPU model of new servers; null: all that their node has. */
  cpuModel: string | null
  /** The ids of the locations to which its servers may move. */
  movesTo: (string)[]
  /** Those of them that owners of servers may choose themselves. */
  movesOffered: (string)[]
  /** The ids of the locations whose servers may move here. */
  movesFrom: (string)[]
  nodes: number
  connectedNodes: number
  /** Connected, and taking new servers. */
  openNodes: number
  /** Connected until a moment ago; expected back within a minute. */
  reconnectingNodes: number
  servers: number
  memoryMb: number
  /** By servers, whether they run or not. */
  heldMemoryMb: number
  /** The reserve in MiB, over its nodes that are open and connected. */
  reserveMb: number
  /** What orders may take in all until the reserve begins; 0: nothing. */
  orderableMemoryMb: number
  diskGb: number
  heldDiskGb: number
  /** As on its nodes; what one server can take may be less. */
  freeDiskGb: number
  freeIpv4: number
}

export type LocationPage = {
  data: (Location)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type LocationReference = {
  id: string
  name: string
}

export type MaintenanceEnded = {
  node: {
    id: string
    name: string
  }
  /** Started again. */
  started: ({
    id: string
    hostname: string
  })[]
  /** The moves back; null: no server comes back. */
  drain: Drain | null
}

export type MaintenanceNotice = {
  /** Owners of servers that are off for it, and of those that cannot move. */
  recipients: ({
    id: string
    name: string
    servers: (string)[]
  })[]
  subject: string
  /** As the first of them reads it; each is told of the own servers. */
  paragraphs: (string)[]
}

export type MaintenanceStep = {
  name: "closed" | "drained" | "stopped" | "cleared" | "quiet" | "restarted" | "answers" | "opened"
  title: string
  done: boolean
  /** Since when it is done, where that is noted. */
  at: string | null
  /** The person who did it. */
  by: string | null
  /** What is known of it, or what is missing. */
  words: string | null
}

export type Membership = {
  id: string
  /** Whose servers these are. */
  owner: {
    id: string
    name: string
  }
  role: "view" | "operate" | "manage"
  /** Null: all servers of the owner. */
  server: {
    id: string
    name: string
  } | null
  since: string
}

export type MembershipPage = {
  data: (Membership)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type Message = {
  id: string
  state: "draft" | "scheduled" | "sending" | "sent" | "cancelled"
  /** The servers whose owners get it: those that fit all of it. */
  audience: {
    node?: {
      id: string
      name: string
    }
    location?: LocationReference
    package?: {
      id: string
      name: string
    }
    ipPool?: {
      id: string
      name: string
    }
    label?: string
    reseller?: {
      id: string
      name: string
    }
    account?: {
      id: string
      name: string
    }
    serverIds?: (string)[]
  }
  /** Customers of resellers get it themselves, from the sender of their reseller. False: their resellers get it once. */
  toCustomersOfResellers: boolean
  subject: string
  text: string
  /** About their servers: it has no link to unsubscribe. False: news. */
  isService: boolean
  /** Also as a notice in the panel. */
  alsoNotice: boolean
  /** When the work that it announces begins: fills {start} and {duration}. */
  workStartsAt: string | null
  /** When it ends: fills {end} and {duration}. */
  workEndsAt: string | null
  sendAt: string | null
  /** When a test of this text was sent last. */
  testedAt: string | null
  /** Names in braces that nothing fills: it cannot be sent with them. */
  unknownNames: (string)[]
  /** Names in braces that the time of the work fills, while there is none: it cannot be sent with them. */
  namesWithoutTime: (string)[]
  /** Of a draft, as the servers are now. */
  counts: {
    /** Those who get it, or have got it. */
    recipients: number
    /** Theirs that it is about; 0 once it is sent. */
    servers: number
    resellers: number
    waiting: number
    sent: number
    leftOut: number
  }
  jobId: string | null
  writtenBy: {
    id: string
    name: string
  }
  createdAt: string
  changedAt: string
  finishedAt: string | null
}

export type MessagePage = {
  data: (Message)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type MessagePreview = {
  number: number
  of: number
  from: string
  to: string
  subject: string
  greeting: string
  paragraphs: (string)[]
  signature: string
}

export type MessageRecipient = {
  id: string
  name: string
  email: string
  /** Those that it is about. */
  servers: string
  /** sent: it waits for the mail server. delivered: the mail server took it. failed: it was tried for hours. */
  state: "waiting" | "sent" | "left_out" | "cancelled" | "delivered" | "failed"
  reason: string | null
  at: string | null
}

export type MessageRecipientPage = {
  data: (MessageRecipient)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

/** One value per step; null where nothing was measured. */
export type MetricValues = {
  /** Processor time in percent of all its vCPUs or threads. */
  cpuPercent: (number | null)[]
  /** The highest of the shorter values behind one value of cpuPercent. */
  cpuPeakPercent: (number | null)[]
  /** Memory in use in MiB; of a server as its guest tells it, and null where it does not. */
  memoryMb: (number | null)[]
  /** Of all its disks together. */
  diskReadBytesPerSecond: (number | null)[]
  /** Of all its disks together. */
  diskWrittenBytesPerSecond: (number | null)[]
  /** Read operations of all its disks together. */
  diskReadsPerSecond: (number | null)[]
  /** Write operations of all its disks together. */
  diskWritesPerSecond: (number | null)[]
  /** Received. */
  rxBytesPerSecond: (number | null)[]
  /** Sent. */
  txBytesPerSecond: (number | null)[]
  /** Received. */
  rxPacketsPerSecond: (number | null)[]
  /** Sent. */
  txPacketsPerSecond: (number | null)[]
}

export type Metrics = {
  serverId: string
  /** The start of the first step. */
  from: string
  /** The end of the last step. */
  to: string
  /** The length of a step. */
  resolutionSeconds: number
  memoryMb: number
  series: MetricValues
  vcpus: number
}

export type MoveOption = {
  node: {
    id: string
    name: string
  }
  possible: boolean
  /** Why it is not possible, in the words of placement. */
  reason: string | null
  /** What speaks against it, such as the soft rule of a placement group. */
  note: string | null
  /** It gets other addresses there: `readdress` allows that. */
  newAddresses: boolean
  /** Among these are addresses that it had there before, and that are held for it. */
  getsBack: boolean
  /** Of its memory that is held now. */
  memoryPercent: number | null
  memoryPercentAfter: number | null
  location: LocationReference
  /** How it would move there; null: it cannot. */
  mode: "live" | "near_live" | "cold" | "reassigned" | null
  /** What speaks against moving it there with its memory; null: nothing. */
  notLive: string | null
  /** To be copied there at most. */
  bytes: number | null
  /** What is not copied because both nodes reach its storage, in words; null: all of its disks are copied. */
  sharedStorage: string | null
  expectedSeconds: number | null
  expectedDowntimeMs: number | null
}

export type MoveOptions = {
  server: {
    id: string
    hostname: string
  }
  location: LocationReference
  from: {
    id: string
    name: string
  }
  /** Why it cannot be moved to any node now, and what to do; null: it can. */
  notMovable: string | null
  /** To the chosen node. */
  mode: "live" | "near_live" | "cold" | "reassigned"
  /** What speaks against moving it there with its memory; null: nothing. */
  notLive: string | null
  /** To be copied at most: holes of its disks are not. */
  bytes: number
  /** What is not copied because both nodes reach its storage, in words; null: all of its disks are copied. */
  sharedStorage: string | null
  expectedSeconds: number
  /** How long its system is off for it; 0 where it is off already. */
  expectedDowntimeMs: number
  /** What its owner notices, in sentences. */
  changes: (string)[]
  /** The node that placement chooses; null: none fits on which it keeps its addresses. */
  chosen: {
    id: string
    name: string
  } | null
  /** A move of it that waits for its time. Another move takes its place. */
  waiting: {
    transferId: string
    startsAt: string
  } | null
  nodes: (MoveOption)[]
}

export type MoveStarted = {
  /** Null where nothing is installed: it is moved at once. Null before its time, and in a dry run. */
  jobId: string | null
  serverId: string
  /** Null in a dry run. */
  transferId: string | null
  startsAt: string | null
  to: {
    id: string
    name: string
  }
  /** live: moved with its memory while it runs. near_live: copied while it runs, and off for what changed meanwhile. cold: off while it is copied. reassigned: it waits for its setup, so nothing is copied. */
  mode: "live" | "near_live" | "cold" | "reassigned"
  /** What speaks against moving it with its memory, in words; null: nothing. */
  notLive: string | null
  /** To be copied at most. */
  bytes: number
  /** What is not copied because both nodes reach its storage, in words; null: all of its disks are copied. */
  sharedStorage: string | null
  expectedSeconds: number
  expectedDowntimeMs: number
  changes: (string)[]
}

export type Named = {
  id: string
  name: string
}

export type NewWebhook = {
  id: string
  /** What you call it; null: the host of its address. */
  name: string | null
  url: string
  /** Types of events; `*` is every type that the owner may receive. */
  events: (string)[]
  status: "active" | "paused"
  /** failing: 50 attempts in a row failed over more than a day. gone: the receiver answered 410. */
  pauseReason: "by_hand" | "failing" | "gone" | null
  pausedAt: string | null
  /** Failed attempts since the last success. */
  failures: number
  failingSince: string | null
  /** The last success. */
  deliveredAt: string | null
  /** The last failed attempt. */
  failedAt: string | null
  /** Until then deliveries are also signed with the previous secret. */
  previousSecretUntil: string | null
  createdAt: string
  /** Deliveries are signed with it. */
  secret: string
}

export type Node = {
  id: string
  name: string
  location: LocationReference
  connected: boolean
  /** Expected back within a minute. */
  reconnecting: boolean
  connectedAt: string | null
  seenAt: string
  /** How far its clock is from the controller's. */
  skewMs: number
  /** Its parts that do not answer although it is connected: its servers have the power that was last known. */
  silent: (SilentPart)[]
  /** It takes new servers. */
  open: boolean
  /** Since when it takes none; null while it is open, and where nobody knows. */
  closedAt: string | null
  /** In the words of who closed it. */
  closedReason: string | null
  /** Declared lost: its servers have failed, and it is refused until it is enrolled again. */
  lostAt: string | null
  /** It is refused until its credential is renewed. */
  credentialRevokedAt: string | null
  bridge: string
  agentVersion: string
  /** itself: by a roll-out. package: with apt. hand: by an operator. Null: it is an early agent, updated by hand. */
  agentUpdatedBy: "itself" | "package" | "hand" | null
  agentOutdated: boolean
  /** A simulated host. */
  fake: boolean
  virtualisation: Virtualisation
  servers: number
  threads: number
  memoryMb: number
  /** Kept for the host itself. */
  reservedMemoryMb: number
  heldMemoryMb: number
  /** Of all its storage pools together. */
  diskGb: number
  /** Promised to servers. */
  heldDiskGb: number
  /** Left for orders in all pools together; 5 % of each stays in reserve. */
  freeDiskGb: number
  storagePools: (PoolOfNode)[]
  /** Between what should be on it and what is. */
  differences: number
  /** It has not told which addresses are in use on it since the database was restored: until then the pools that it routes give none. */
  awaited: boolean
  /** Measured at `at`: now, or, while the node is away, the last time; null before the first since the controller started. */
  load: NodeLoad | null
}

export type NodeCardMetrics = {
  nodeId: string
  /** The start of the first step. */
  from: string
  /** The end of the last step. */
  to: string
  /** The length of a step. */
  resolutionSeconds: number
  /** In the order of their slots; one value per step, null where none is. */
  cards: (CardMetrics)[]
}

export type NodeHardware = {
  firmware: ("bios" | "uefi" | "uefi_secure")[]
  tpm: boolean
}

export type NodeLoad = {
  at: string
  cpuPercent: number
  load1: number
  memoryFreeMb: number
  pools: (StoragePool)[]
}

export type NodeLogin = {
  node: {
    id: string
    name: string
  }
  login: string
  changedAt: string
}

export type NodeMaintenance = {
  node: {
    id: string
    name: string
  }
  /** The one at work, or the last one until the node is opened again. */
  drain: Drain | null
  /** The drain of it that begins by itself; null: none. */
  scheduled: ScheduledDrain | null
  steps: (MaintenanceStep)[]
  /** The servers that were here and can come back; null: none. */
  back: {
    servers: number
    /** Of them with their memory. */
    live: number
    /** Of them that could not come back now. */
    cannot: number
    atOnce: number
    expectedSeconds: number
  } | null
  /** They wait here, off, and are started at its end. */
  stopped: ({
    id: string
    hostname: string
  })[]
  /** The maintenance of several nodes of which this is one, and the node after it. */
  rolling: {
    id: string
    next: {
      id: string
      name: string
    } | null
  } | null
}

export type NodeMetrics = {
  nodeId: string
  /** The start of the first step. */
  from: string
  /** The end of the last step. */
  to: string
  /** The length of a step. */
  resolutionSeconds: number
  memoryMb: number
  series: MetricValues
  threads: number
}

export type NodePage = {
  data: (Node)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type NodeStoragePool = {
  id: string
  nodeId: string
  name: string
  /** file, lvm-thin, zfs or rbd; fake on a simulated node. */
  kind: string
  /** What packages ask for; null: the node names none. */
  class: string | null
  /** Where it is on the node. */
  path: string
  totalBytes: number
  /** Null before the first report. */
  freeBytes: number | null
  /** Of its size; null before the first report. */
  usedPercent: number | null
  /** Of its space for metadata; null where it has none of its own. */
  metadataPercent: number | null
  /** Held for disks and snapshots. */
  heldDiskGb: number
  /** The overcommit limit: so much can be held. */
  limitGb: number
  /** The largest disk that fits. */
  freeDiskGb: number
  /** The overcommit limit, of its size. */
  overcommitPercent: number
  /** It takes the disks of new servers. */
  open: boolean
  /** full: 90 % of its data or its metadata are in use, so it takes no new disks. missing: its node does not report it any more. silent: it does not answer its node, so its figures are the last that are known and it takes no new disks. */
  state: "open" | "closed" | "full" | "missing" | "silent"
  missingSince: string | null
  silentSince: string | null
  /** What the node says is wrong with it. */
  warnings: (string)[]
}

export type NodeStoragePoolPage = {
  data: (NodeStoragePool)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type Notice = {
  id: string
  kind: string
  subject: string
  /** Paragraphs, a line each. */
  words: string
  /** The page of the panel that it leads to. */
  href: string
  createdAt: string
  readAt: string | null
  /** It is about a state, such as an outage, which is over at `overAt`. */
  isState: boolean
  /** When the state ended that it is about; null: it goes on, or it is about none. */
  overAt: string | null
}

export type NoticeChoice = {
  kind: string
  /** Completes "Tell me when …". */
  when: string
  inPanel: boolean
  byMail: boolean
  /** False where whoever misses it loses something. */
  mayTurnOff: boolean
  /** It is about a location, and you may choose the locations. */
  byLocation: boolean
  /** The locations of which it comes. Empty: all of them, also later ones. */
  locationIds: (string)[]
}

export type OfferedImage = {
  id: string
  name: string
  minDiskGb: number
  sizeBytes: number
  user: string
  /** windows: prepared with cloudbase-init. It gets its data as a config drive, and the user Administrator. */
  os: "linux" | "windows"
  isDefault: boolean
  /** An image of your account, which others do not see. */
  own: boolean
}

export type OfferedImagePage = {
  data: (OfferedImage)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type OneLineOfText0To100 = string

export type OneLineOfText0To1024 = string

export type OneLineOfText0To20 = string

export type OneLineOfText0To200 = string

export type OneLineOfText0To253 = string

export type OneLineOfText0To300 = string

export type OneLineOfText0To32 = string

export type OneLineOfText0To40 = string

export type OneLineOfText0To400 = string

export type OneLineOfText0To41 = string

export type OneLineOfText0To500 = string

export type OneLineOfText0To60 = string

export type OneLineOfText0To64 = string

export type OneLineOfVisibleText0To100 = string

export type OneLineOfVisibleText0To150 = string

export type OneLineOfVisibleText0To200 = string

export type OneLineOfVisibleText0To60 = string

export type OneLineOfVisibleText0To64 = string

export type OneLineOfVisibleText1To100 = string

export type OneLineOfVisibleText1To150 = string

export type OneLineOfVisibleText1To200 = string

export type OneLineOfVisibleText1To254 = string

export type OneLineOfVisibleText1To300 = string

export type OneLineOfVisibleText1To40 = string

export type OneLineOfVisibleText1To500 = string

export type OneLineOfVisibleText1To60 = string

export type OneLineOfVisibleText1To64 = string

export type OneLineOfVisibleText1To80 = string

export type OrderableGpuOffer = {
  id: string
  name: string
  /** Of its cards, as the nodes report it. */
  model: string
  cards: number
  vcpus: number
  memoryMb: number
  /** The size of /workspace, which stays when an instance is made anew. */
  workspaceGb: number
  /** An instance has an IPv4 address of its own, with all ports. */
  ownIpv4: boolean
  /** Ports of the host that lead to an instance without an address, that of SSH among them. */
  ports: number
  /** The memory of one of its cards; null: no node has told. */
  cardMemoryMb: number | null
  /** Null: none is shown. Bills are made elsewhere. */
  price: Price | null
  /** An order that names none gets the first; none: it takes no orders. */
  images: (GpuTemplate)[]
  locations: ({
    id: string
    name: string
    /** An order there is accepted now; false: sold out. */
    available: boolean
  })[]
  /** Its cards are within what the account may have besides those that it has. */
  withinLimit: boolean
}

export type OutageRecipients = {
  kind: "node_away" | "storage_nearly_full"
  /** Completes "Is told when …". */
  when: string
  staff: ({
    id: string
    name: string
    inPanel: boolean
    byMail: boolean
    /** Empty: all of them, also later ones. */
    locations: (LocationReference)[]
  })[]
  /** Locations with nodes of which nobody gets a mail. */
  withoutMail: (LocationReference)[]
}

export type OwnAccount = {
  id: string
  kind: string
  email: string
  name: string
  organization: string | null
  hasPassword: boolean
  theme: "system" | "light" | "dark"
  density: "comfortable" | "compact"
  /** Shortcuts of a single key, such as ?. */
  shortcuts: "on" | "off"
  timeZone: string | null
  lockedAt: string | null
  lockReason: string | null
  createdAt: string
}

export type OwnImage = {
  id: string
  ownerId: string
  name: string
  url: string
  checksum: string
  sizeBytes: number
  /** The smallest disk that it fits on. */
  minDiskGb: number
  /** windows: prepared with cloudbase-init. It gets its data as a config drive, and the user Administrator. */
  os: "linux" | "windows"
  /** The version of cloud-init network-config that its system gets. v1 is for most systems. v2 is for netplan with cloud-init before 23.1, such as Debian 12, which loses gateways outside the network of an address in v1. Windows ignores it. */
  networkConfig: "v1" | "v2"
  createdAt: string
  /** How many servers were installed with it. */
  servers: number
}

export type OwnImagePage = {
  data: (OwnImage)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type Package = {
  id: string
  name: string
  /** Free text, such as vendor:number. */
  billingProductId: string | null
  vcpus: number
  memoryMb: number
  diskGb: number
  trafficGb: number | null
  portMbps: number | null
  /** How many addresses a server gets. */
  ipv4: number
  /** The length of the prefix that a server gets. */
  ipv6Prefix: number | null
  /** What becomes of a server that has used its traffic of the month. */
  overTraffic: "nothing" | "suspend" | "throttle"
  /** The speed in each direction of a server that `throttle` slows down; null with another `overTraffic`. */
  throttleMbps: number | null
  /** A server that ends by itself starts again: `on_failure` after a crash, `always` after a shutdown too. */
  restartPolicy: "always" | "on_failure" | "never"
  /** Snapshots that a server may have at a time; 0: none. */
  snapshotLimit: number
  /** Disks are made in storage of this class; null: of any. */
  storageClass: string | null
  /** GiB of extra volumes that come with a server; 0: none. */
  volumeGb: number
  /** Volumes are made in storage of this class; null: of that of its disk. */
  volumeClass: string | null
  /** Of each disk, per second; null, as for the next three: not limited. */
  diskReadIops: number | null
  diskWriteIops: number | null
  /** MiB. */
  diskReadMbPerSecond: number | null
  /** MiB. */
  diskWriteMbPerSecond: number | null
  /** TCP connections that a server may begin; null: as the settings say. */
  newConnectionsPerSecond: number | null
  /** Packets that a server may send; null: as the settings say. */
  packetsPerSecond: number | null
  /** Its servers may connect to mail servers, on TCP port 25. */
  smtpAllowed: boolean
  /** Shown at the order; null: none. Nothing is computed from it. */
  price: string | null
  currency: string | null
  /** The time that the price is for. */
  pricePer: "hour" | "month"
  /** It can no longer be ordered. */
  archived: boolean
  servers: number
}

export type PackageChange = {
  /** The job that was started; null where the server has this package already. */
  jobId: string | null
  serverId: string
  /** at_restart: it runs, so memory and vCPUs change when it is restarted in the panel or by `servers.power`; a reboot from inside is not enough. The disk grows at once. */
  takesEffect: "now" | "at_restart"
}

export type PackageSold = {
  id: string
  name: string
  /** Free text, such as vendor:number. */
  billingProductId: string | null
  vcpus: number
  memoryMb: number
  diskGb: number
  trafficGb: number | null
  portMbps: number | null
  /** How many addresses a server gets. */
  ipv4: number
  /** The length of the prefix that a server gets. */
  ipv6Prefix: number | null
  /** What becomes of a server that has used its traffic of the month. */
  overTraffic: "nothing" | "suspend" | "throttle"
  /** The speed in each direction of a server that `throttle` slows down; null with another `overTraffic`. */
  throttleMbps: number | null
  /** A server that ends by itself starts again: `on_failure` after a crash, `always` after a shutdown too. */
  restartPolicy: "always" | "on_failure" | "never"
  /** Snapshots that a server may have at a time; 0: none. */
  snapshotLimit: number
  /** Disks are made in storage of this class; null: of any. */
  storageClass: string | null
  /** GiB of extra volumes that come with a server; 0: none. */
  volumeGb: number
  /** Volumes are made in storage of this class; null: of that of its disk. */
  volumeClass: string | null
  /** Of each disk, per second; null, as for the next three: not limited. */
  diskReadIops: number | null
  diskWriteIops: number | null
  /** MiB. */
  diskReadMbPerSecond: number | null
  /** MiB. */
  diskWriteMbPerSecond: number | null
  /** TCP connections that a server may begin; null: as the settings say. */
  newConnectionsPerSecond: number | null
  /** Packets that a server may send; null: as the settings say. */
  packetsPerSecond: number | null
  /** Its servers may connect to mail servers, on TCP port 25. */
  smtpAllowed: boolean
  /** Shown at the order; null: none. Nothing is computed from it. */
  price: string | null
  currency: string | null
  /** The time that the price is for. */
  pricePer: "hour" | "month"
  /** It can no longer be ordered. */
  archived: boolean
}

export type PasskeyOptions = {
  options: unknown
}

export type PasswordReset = {
  jobId: string
  serverId: string
  /** In this answer only. */
  rootPassword: string
  /** The user whose password it is. */
  user: string
  /** now: its guest agent answers. next_boot: when it is started or restarted in the panel or by `servers.power`. The log of the job says what was done. */
  applies: "now" | "next_boot"
}

export type PlacementGroup = {
  id: string
  name: string
  /** affinity: its servers are on one node. anti_affinity: each is on a node of its own. */
  policy: "affinity" | "anti_affinity"
  /** Orders and moves that break the rule are refused; otherwise a node that keeps it comes first. */
  hard: boolean
  owner: {
    id: string
    name: string
  }
  members: ({
    kind: "server" | "gpu_instance"
    /** Or the GPU instance, as `kind` says. */
    server: {
      id: string
      hostname: string
    }
    location: LocationReference
    /** Staff only. While it moves, the node on which it still runs. */
    node: {
      id: string
      name: string
    } | null
    /** It breaks the rule with another one. */
    misplaced: boolean
  })[]
  /** How the rule is broken now, in words; null: it is kept. */
  violation: string | null
  /** A move that mends it, or a part of it. Staff only; null where nothing is broken or no node fits. */
  suggestion: {
    server: {
      id: string
      hostname: string
    }
    to: {
      id: string
      name: string
    }
  } | null
  /** own, or the role in the team of its owner. */
  access: "own" | "view" | "operate" | "manage"
  createdAt: string
}

export type PlacementGroupPage = {
  data: (PlacementGroup)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type PlannedNode = {
  node: {
    id: string
    name: string
  }
  /** Of its memory that is held now. */
  memoryPercent: number
  memoryPercentAfter: number
}

export type PlannedServer = {
  id: string
  kind: "server" | "gpu_instance"
  hostname: string
  owner: {
    id: string
    name: string
  }
  running: boolean
  /** Null where it cannot move. */
  mode: "live" | "near_live" | "cold" | "reassigned" | null
  /** Where it would go now; it is placed anew when its move begins. */
  to: {
    id: string
    name: string
  } | null
  /** To be copied at most: holes of its disks are not. */
  bytes: number
  expectedSeconds: number
  /** How long its system is off for it; 0 where it is off already. */
  expectedDowntimeMs: number
  /** What its owner notices, in sentences. */
  changes: (string)[]
  /** A job works on it now: its move waits for the end. */
  busy: boolean
  /** Why it cannot move, in the words of placement; null: it can. */
  reason: string | null
  /** What to do about that. */
  remedy: string | null
  /** What a person has chosen for it; null: nothing. */
  choice: DrainChoice | null
}

export type PoolAddress = {
  id: string
  address: string
  prefixLength: number
  /** resting: it was freed, and nobody gets it before `restsUntil`. */
  state: "free" | "held" | "reserved" | "resting"
  restsUntil: string | null
  reservedFor: string | null
  /** Why it is never given out again, also of one that a server has still. */
  retiredFor: string | null
  /** What holds it: a server, or another kind of workload. */
  workload: {
    id: string
    kind: string
    hostname: string
  } | null
}

export type PoolAddressPage = {
  data: (PoolAddress)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type PoolOfNode = {
  id: string
  name: string
  class: string | null
  open: boolean
  /** The largest disk that fits. */
  freeDiskGb: number
}

export type Price = {
  /** A decimal number. */
  amount: string
  /** As ISO 4217 names it. */
  currency: string
  per: "hour" | "month"
}

export type PrimaryAddressChange = {
  /** Null where nothing is installed, so that it is done at once, and where it was only checked. */
  jobId: string | null
  serverId: string
  /** Each server, with the address that it gives up and the one that it gets. */
  servers: ({
    id: string
    hostname: string
    removed: string
    added: string
  })[]
  /** What it means for those who use the servers, in sentences. */
  effects: (string)[]
}

export type PrimaryAddressOption = {
  version: 4 | 6
  address: string
  /** Of a change, in sentences. */
  effects: (string)[]
  /** Servers of the same owner whose node routes its address, and the other way round: 100 at most. */
  swapWith: ({
    id: string
    hostname: string
    address: string
  })[]
  /** Why there is none, in words. */
  swapsWithNone: string | null
}

export type PrivateNetwork = {
  id: string
  name: string
  ipv4: string
  ipv6: string | null
  location: LocationReference
  owner: {
    id: string
    name: string
  }
  members: (PrivateNetworkMember)[]
  createdAt: string
}

export type PrivateNetworkChanged = {
  /** The job on the server's node. A node that is away follows when it is back. */
  jobId: string | null
  serverId: string
  networkId: string
}

export type PrivateNetworkMember = {
  server: {
    id: string
    hostname: string
  }
  ipv4: string
  ipv6: string | null
  mac: string
  /** The running machine could not take the card: it comes at the next start. */
  atNextStart: boolean
}

export type PrivateNetworkPage = {
  data: (PrivateNetwork)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type Protection = {
  serverId: string
  protected: boolean
}

/** Null: not limited. */
export type Quotas = {
  customers: number | null
  servers: number | null
  vcpus: number | null
  memoryMb: number | null
  diskGb: number | null
  ipv4: number | null
  gpus: number | null
}

export type Reconciliation = {
  /** Lines of the list. */
  listed: number
  /** Servers that are here and billed by the caller. */
  servers: number
  /** The same of GPU instances. */
  instances: number
  /** Servers and GPU instances of customers of resellers: they are not billed here, but by their resellers. */
  resold: number
  /** How many differences there are; the first 10000 follow. */
  found: number
  differences: (BillingDifference)[]
}

export type RecoverySheet = {
  /** A text to print. Whoever has it can read your backups. */
  sheet: string
  /** The folder of your repository in each backup target. */
  repository: string
}

export type ReinstallOptions = {
  /** kept: until the new system is in use. deleted_first: there is no space for both disks, and nothing is left if the installation fails. none: nothing is installed. */
  oldSystem: "kept" | "deleted_first" | "none"
  /** The space that a second disk takes. */
  neededGb: number
  /** So many snapshots are deleted with the disk. */
  snapshots: number
}

export type Release = {
  version: string
  file: string
  date: string
  /** Which of the trusted keys signed it. */
  key: string
  /** It follows this version or a later one. */
  minimumVersion: string
  protocol: number
  schema: string
  /** Of the program. */
  sizeBytes: number
  /** Of the release, in which the program is compressed. */
  fileBytes: number
  addedAt: string
  notes: string
  /** Why this controller cannot be updated to it; null where it can. */
  refused: string | null
}

export type RelocationAtWork = {
  location: LocationReference
  /** It has not passed its point of no return. */
  cancellable: boolean
}

export type RelocationOption = {
  location: LocationReference
  possible: boolean
  /** Why it is not possible now. */
  reason: string | null
  /** It gets back the addresses that it had there. */
  getsBack: boolean
  /** Until then these addresses are held for it. */
  heldUntil: string | null
  /** How long the move takes at most; null: it is not possible. */
  expectedSeconds: number | null
  /** How long its system is off for it. */
  expectedDowntimeMs: number | null
}

export type RelocationOptions = {
  location: LocationReference
  /** Why it cannot be moved anywhere now, and what to do; null: it can. */
  notPossible: string | null
  /** So many IPv4 addresses take the place of those that it has. */
  newIpv4: number
  /** The lengths of the IPv6 prefixes that take the place of its own. */
  newIpv6: (number)[]
  /** How often it can still be moved in these 24 hours; a move back does not count. */
  left: number
  /** The move that the owner has asked for; null: none is at work. */
  atWork: RelocationAtWork | null
  /** Empty: no move is offered. */
  locations: (RelocationOption)[]
}

export type RelocationStarted = {
  /** Null where nothing is installed: it is moved at once. */
  jobId: string | null
  serverId: string
  location: LocationReference
  /** The addresses that are kept for it, and in force when the move switches. */
  added: (string)[]
  /** Those that it gives up then. */
  removed: (string)[]
  /** How long the move takes at most; null: it is not possible. */
  expectedSeconds: number | null
  /** How long its system is off for it. */
  expectedDowntimeMs: number | null
}

export type Replica = {
  /** Null where PANEL_REPLICA is not set. */
  address: string | null
  /** Changes are confirmed when they are in the replica. */
  waits: boolean
  /** So far back any time can be restored. */
  days: number
  /** Every change before is in the replica. */
  shippedAt: string | null
  /** The last whole copy. */
  baseAt: string | null
  error: string | null
  errorSince: string | null
}

export type RescueOptions = {
  /** The name of the rescue image; null: staff have chosen none. */
  image: string | null
  /** Does its firewall, which applies in rescue too, let SSH in from somewhere? */
  sshOpen: boolean
}

export type RescueStarted = {
  jobId: string
  serverId: string
  /** Of root in the rescue system. It is not shown again. */
  rootPassword: string
}

export type Reseller = {
  id: string
  kind: "customer" | "reseller" | "staff"
  email: string
  name: string
  organization: string | null
  /** The billing system's own identifier of it. */
  externalId: string | null
  hasPassword: boolean
  /** Has one set up. */
  secondFactor: boolean
  /** When it last used the panel, signed in; null when not recently. */
  seenAt: string | null
  lockedAt: string | null
  /** Nothing new can be ordered for a locked account. */
  lockReason: string | null
  createdAt: string
  /** How many it has. */
  servers: number
  allowance: Allowance
  suspendedAt: string | null
  suspendReason: string | null
  quotas: Quotas
  used: Amounts
  packages: (PackageSold)[]
  locations: ({
    id: string
    name: string
    open: boolean
  })[]
}

export type ResellerPage = {
  data: (Reseller)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type RestoreDrills = {
  /** Each night one backup is drilled. */
  on: boolean
  /** In UTC. */
  hour: number
  runningJobId: string | null
  /** The last restore that worked; its backup may be deleted since. Null: none yet. */
  lastProven: {
    backupId: string
    serverId: string
    serverName: string
    at: string
    /** From its begin until all of it was removed again. */
    seconds: number | null
  } | null
  /** The last night, where none could begin. Null: it began. */
  skipped: {
    at: string
    reason: string
  } | null
}

export type ReturnPlan = {
  node: {
    id: string
    name: string
  }
  servers: (PlannedServer)[]
  /** Nodes that take some of them. */
  nodes: (PlannedNode)[]
  totals: {
    servers: number
    moves: number
    cannotMove: number
    /** Of those that move: off already, or not set up, so nobody notices. */
    off: number
    /** Owners of all of them. */
    owners: number
    /** Owners whose server is off for it while it should run. */
    ownersToTell: number
    bytes: number
    /** Until all have moved, so many at once. */
    expectedSeconds: number
    longestDowntimeMs: number
  }
  atOnce: number
  /** Stopped by an evacuation, and off since: they are started. */
  stopped: ({
    id: string
    hostname: string
  })[]
}

export type ReverseName = {
  address: string
  name: string
  /** waiting: the name server is told soon, or again. refused: it does not take it; staff see why. */
  state: "waiting" | "set" | "refused"
  updatedAt: string
}

export type Role = {
  id: string
  name: string
  permissions: (string)[]
  isOwner: boolean
  secondFactor: boolean
  staff: number
}

export type RolePage = {
  data: (Role)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type RoleToken = {
  id: string
  name: string
  ending: string
  owner: {
    id: string
    name: string
  }
  scopes: (string)[]
  createdAt: string
  expiresAt: string | null
  usedAt: string | null
  usedFrom: string | null
}

export type RoleTokenPage = {
  data: (RoleToken)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type RollOut = {
  id: string
  version: string
  /** paused: no further node begins until somebody continues. stopping: nodes at work come to their end first. */
  state: "running" | "paused" | "stopping" | "stopped" | "done"
  /** Null while it is not paused. */
  pausedBy: "person" | "failure" | null
  /** The node at which it stopped. */
  failedNode: {
    id: string
    name: string
  } | null
  reason: string | null
  /** All of the installation. */
  nodes: number
  /** Nodes that run the version. */
  updated: number
  wave: number
  /** The wave has ended well and is watched until then. */
  watchUntil: string | null
  startedBy: {
    id: string
    name: string
  }
  createdAt: string
  pausedAt: string | null
  finishedAt: string | null
}

export type RollOutDetail = {
  id: string
  version: string
  /** paused: no further node begins until somebody continues. stopping: nodes at work come to their end first. */
  state: "running" | "paused" | "stopping" | "stopped" | "done"
  /** Null while it is not paused. */
  pausedBy: "person" | "failure" | null
  /** The node at which it stopped. */
  failedNode: {
    id: string
    name: string
  } | null
  reason: string | null
  /** All of the installation. */
  nodes: number
  /** Nodes that run the version. */
  updated: number
  wave: number
  /** The wave has ended well and is watched until then. */
  watchUntil: string | null
  startedBy: {
    id: string
    name: string
  }
  createdAt: string
  pausedAt: string | null
  finishedAt: string | null
  watchSeconds: number
  trialSeconds: number
  windows: ({
    location: LocationReference
    from: string
    /** Before `from`: on the next day. */
    to: string
    /** As Europe/Helsinki. */
    timeZone: string
  })[]
  /** How long one node took on average until its new version answered. */
  busySeconds: number | null
  /** Sent to one node on average. */
  sentBytes: number | null
  members: ({
    id: string
    name: string
    /** 0: it goes first. null: it takes no part. */
    wave: number | null
    /** already: it ran the version before its turn came. by_package, by_person: its agent does not update itself. failed: it could not fetch or start the release. went_back: the release did not pass its trial. not_back: it has not been heard of since. */
    state: "waiting" | "updating" | "done" | "already" | "left_out" | "by_package" | "by_person" | "refused" | "failed" | "went_back" | "not_back"
    /** Why it does not begin although its wave has. */
    waitsFor: "away" | "window" | null
    /** How it failed, in one line; null where it did not. */
    headline: string | null
    code: string | null
    reason: string | null
    /** What spoke against the version on trial. */
    findings: (string)[]
    fromVersion: string
    startedAt: string | null
    /** When its new version was first heard of. */
    trialAt: string | null
    endedAt: string | null
    sentBytes: number
  })[]
}

export type RollOutPage = {
  data: (RollOut)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type RollingMaintenance = {
  id: string
  /** paused: it stopped at the node at hand and waits for a person; the reason says why. */
  state: "running" | "paused" | "cancelled" | "done"
  /** In their order. */
  nodes: ({
    id: string
    name: string
    state: "waiting" | "at_hand" | "done" | "skipped"
  })[]
  /** The node at hand; null when it has ended. */
  node: {
    id: string
    name: string
  } | null
  /** working: the node is empty and waits for the sign that its work is done. */
  phase: "draining" | "working" | "returning"
  /** Nodes whose maintenance is over. */
  done: number
  /** person: for `rolling.confirm`. reboot: also until the node has restarted. */
  waitsFor: "person" | "reboot"
  bringBack: boolean
  /** The drain at work, or the last one. */
  drainId: string | null
  reason: string | null
  startedBy: {
    id: string
    name: string
  }
  createdAt: string
  finishedAt: string | null
}

export type RollingMaintenancePage = {
  data: (RollingMaintenance)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type SavedFilter = {
  id: string
  list: string
  name: string
  /** As in the address of the list, such as `status=running&label=shop`. */
  query: string
  createdAt: string
}

export type SavedFilterPage = {
  data: (SavedFilter)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type ScheduledDrain = {
  /** Null: its time has passed, and it did not begin. */
  startsAt: string | null
  by: {
    id: string
    name: string
  }
  /** Null: the setting. */
  atOnce: number | null
  maxMbps: number | null
  onFailure: "continue" | "pause"
  reason: string
  /** Why it did not begin. */
  error: string | null
}

export type Script = {
  id: string
  ownerId: string
  name: string
  sizeBytes: number
  createdAt: string
  changedAt: string
}

export type ScriptPage = {
  data: (Script)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type ScriptWithContent = {
  id: string
  ownerId: string
  name: string
  sizeBytes: number
  createdAt: string
  changedAt: string
  content: string
}

export type SecondsByState = {
  pending_setup: number
  provisioning: number
  active: number
  failed: number
  suspended: number
}

export type Server = {
  id: string
  /** Counts up; until it has a hostname of its own it is called server and this number. */
  number: number
  name: string
  hostname: string
  status: "provisioning" | "pending_setup" | "running" | "stopped" | "suspended" | "failed" | "terminated"
  /** Only for its owner and those who manage it. */
  suspendReason: string | null
  /** Why its installation failed, in words. */
  failure: string | null
  /** Your access: the server is your own or in your care, or its owner gave you this role on it. */
  access: "own" | "view" | "operate" | "manage"
  /** The address is not for those with whom it is shared. */
  owner: {
    id: string
    name: string
    email: string | null
  }
  package: Named
  location: LocationReference
  /** Staff only. */
  node: Named | null
  /** Why it is on this node. Staff only. */
  placement: string | null
  /** The node's storage pool that holds its disk. Staff only. */
  storagePool: string | null
  /** The class of the storage that holds its disk; null: it has none. */
  storageClass: string | null
  /** Null: it waits for its setup. */
  image: Named | null
  /** Of the file of its image from which it was installed: images get new builds. Null: not known. */
  imageChecksum: string | null
  /** The first of its addresses. */
  ipv4: string | null
  /** The guest's own address in its prefix. */
  ipv6: string | null
  addresses: ({
    address: string
    /** As the system inside the server has it: 32 of a floating IPv4 address. */
    prefixLength: number
    version: number
    /** Null of a floating address, which is routed to the server. */
    gateway: string | null
    /** primary: it keeps it until it is terminated. extra: it can be removed. floating: it points here now. */
    kind: "primary" | "extra" | "floating"
  })[]
  /** Null on Windows, except in rescue. */
  sshCommand: string | null
  /** Of the image with which it was installed. windows: by Remote Desktop. */
  osFamily: "linux" | "windows"
  /** The user whose password an order and a reset make. */
  user: string
  mac: string
  vcpus: number
  memoryMb: number
  diskGb: number
  /** A month; null: not limited. */
  trafficGb: number | null
  /** Of its package, in each direction; null: not limited. */
  portMbps: number | null
  /** In force now. */
  speed: {
    /** Traffic to the server; null: not limited. */
    portInMbps: number | null
    /** Traffic from the server; null: not limited. */
    portOutMbps: number | null
    /** Of the processor time of all its vCPUs; null: not limited. */
    cpuPercent: number | null
    /** Set instead of its package's; null: its package's. */
    override: {
      /** Traffic to the server; null: not limited. */
      portInMbps: number | null
      /** Traffic from the server; null: not limited. */
      portOutMbps: number | null
      /** Of the processor time of all its vCPUs; null: not limited. */
      cpuPercent: number | null
    }
    /** It has used its traffic of the month; null: it has not. */
    throttledToMbps: number | null
  }
  /** Of each disk, from its package, in operations and MiB per second; null: not limited. */
  diskLimits: {
    readIops: number | null
    writeIops: number | null
    readMbPerSecond: number | null
    writeMbPerSecond: number | null
  }
  /** The job that holds it now. */
  job: {
    id: string
    kind: string
    progress: number
  } | null
  /** It runs the rescue system; its own disk is the second one there. */
  rescue: boolean
  /** The system as its guest agent names it; null until one has answered. The guest can claim anything. */
  os: {
    id: string
    name: string
    version: string
    kernel: string
    detectedAt: string
  } | null
  /** A root password that was reset applies when it is started next. */
  passwordPending: boolean
  /** What its node does when it ends by itself. */
  restartPolicy: "always" | "on_failure" | "never"
  /** Its owner or you are a locked customer, so power, setup, reinstallation and its restart policy are closed to you. */
  locked: boolean
  /** It can be neither terminated nor reinstalled. */
  protected: boolean
  /** While its node is away it runs on, but cannot be changed. */
  nodeConnected: boolean
  /** When its node, which is away, was last connected; null while it is connected. */
  nodeSeenAt: string | null
  /** Since when its node, which is connected, does not tell whether it runs: its status is from then. Null: it tells. */
  powerKnownAt: string | null
  /** What its state allows now, of what you may do with it: for buttons. */
  allowed: (string)[]
  /** The billing system's own identifier of it. Only for its owner and those who manage it. */
  billingServiceId: string | null
  /** Its owner's words for it. */
  labels: (string)[]
  /** Staff only. */
  staffLabels: (string)[] | null
  createdAt: string
  terminatedAt: string | null
  /** Until when it can be brought back; null once its disk is deleted, and while it is not terminated. */
  purgeAt: string | null
}

export type ServerAddress = {
  id: string
  /** An IPv4 address, or the first address of an IPv6 prefix. */
  address: string
  prefixLength: number
  version: 4 | 6
  gateway: string
  /** primary: the server keeps it until it is terminated. extra: it can be removed. floating: it points here now. */
  kind: "primary" | "extra" | "floating"
  /** How the system inside the server has it, with the prefix length. */
  inGuest: string
  /** To which every address of the IPv6 prefix is routed; null for one address. */
  nextHop: string | null
}

export type ServerAddressPage = {
  data: (ServerAddress)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type ServerAdopted = {
  /** The job that gives the node the rules and the definition of the records. */
  jobId: string
  serverId: string
  node: {
    id: string
    name: string
  }
}

export type ServerBackupPlan = {
  serverId: string
  /** Null: no backups are made of it by themselves. */
  plan: BackupPlanOfServer | null
  /** When its next backup begins; null without a plan, and while it is suspended or terminated. */
  nextAt: string | null
}

export type ServerBackupPlanSet = {
  /** No node has to work for it. */
  jobId: null
  serverId: string
  /** Null: no backups are made of it by themselves. */
  plan: BackupPlanOfServer | null
  /** When its next backup begins; null without a plan, and while it is suspended or terminated. */
  nextAt: string | null
}

export type ServerElsewhere = {
  recorded: {
    id: string
    name: string
  }
  /** Those that say they run it, beside the recorded one. Usually none. */
  nodes: ({
    id: string
    name: string
  })[]
  possible: boolean
  /** Why the record cannot follow it, and the next step. */
  reason: string | null
  /** What the record says afterwards. */
  changes: (string)[]
}

/** All servers that fit, as `servers.list-all` has them; an empty one is every server. */
export type ServerFilter = {
  /** Part of a hostname, name, address, MAC address or owner, an id, or the billing system's identifier. */
  q?: string
  /** Only servers in this state. Terminated ones are listed only when they are asked for, and only for staff. */
  status?: "provisioning" | "pending_setup" | "running" | "stopped" | "suspended" | "failed" | "terminated"
  /** Only servers that pages show in this state: as `status`, but while its node is away, one is `unreachable` and in no other state. */
  state?: "provisioning" | "pending_setup" | "running" | "stopped" | "suspended" | "failed" | "terminated" | "unreachable"
  /** Only servers of this customer. */
  ownerId?: string
  /** Only servers on this node. */
  nodeId?: string
  /** Only servers in this location. */
  locationId?: string
  /** Only servers with this package. */
  packageId?: string
  /** Only servers with exactly this identifier of the billing system's own. */
  billingServiceId?: string
  /** Only servers with this label, of its owner or, for staff, of staff. */
  label?: string
  /** Only servers of the customer with exactly this identifier of the billing system's own. */
  externalId?: string
  /** Only servers of this reseller and its customers. */
  resellerId?: string
  /** Only servers with an address of this pool. */
  ipPoolId?: string
  /** Only terminated servers that can still be brought back. */
  recoverable?: "true"
}

export type ServerFirewall = {
  serverId: string
  enabled: boolean
  defaultIn: "accept" | "drop"
  defaultOut: "accept" | "drop"
  /** The first rule that fits decides; those of the shared firewalls come after. */
  rules: (FirewallRule)[]
  shared: (SharedFirewall)[]
  /** False while the last change is on its way to the node. */
  inForce: boolean
  /** It may connect to mail servers, on TCP port 25. */
  smtpAllowed: boolean
  /** The latest answer of the node; null: never. */
  counters: FirewallCounters | null
}

export type ServerHardware = {
  /** windows: prepared with cloudbase-init. It gets its data as a config drive, and the user Administrator. */
  os: "linux" | "windows"
  /** uefi_secure: UEFI with Secure Boot and the keys of Microsoft. */
  firmware: "bios" | "uefi" | "uefi_secure"
  /** q35 is the newer one. */
  machine: "q35" | "pc"
  /** The version of cloud-init network-config that its system gets. v1 is for most systems. v2 is for netplan with cloud-init before 23.1, such as Debian 12, which loses gateways outside the network of an address in v1. Windows ignores it. */
  networkConfig: "v1" | "v2"
  /** It has a TPM 2.0. */
  tpm: boolean
  /** The bus of its disk. A server that was imported keeps the one that its system knows. */
  diskBus: "virtio" | "scsi" | "sata" | "ide"
  /** The model of its public network card. A server that was imported keeps its own. */
  nicModel: "virtio" | "e1000" | "rtl8139"
  /** The device that it tries first when it starts; the other follows. */
  bootFirst: "disk" | "cd"
  /** In its CD drive; null: it is empty. */
  iso: {
    id: string
    name: string
  } | null
}

export type ServerOrdered = {
  jobId: string | null
  /** Null only in the answer to a dry run. */
  serverId: string | null
  /** In the answer to a dry run the address that is next; it is not held. */
  ipv4: string | null
  rootPassword?: string
  /** Beside `rootPassword`: the user whose password it is. */
  user?: string
}

export type ServerPage = {
  data: (Server)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type ServerUsage = {
  serverId: string
  from: string
  to: string
  days: number
  /** How long it was there, whatever its state. */
  allocatedSeconds: number
  secondsByState: SecondsByState
  packages: (UsedPackage)[]
  intervals: (UsageInterval)[]
}

export type Setting = {
  name: string
  title: string
  words: string
  unit: string | null
  /** Null: as `defaultWords` says. */
  value: number | boolean | null
  default: number | boolean | null
  defaultWords: string | null
  minimum: number | null
  maximum: number | null
  /** Such a change weakens a protection: it waits for 24 hours, or until another owner confirms it. */
  weakens: "higher" | "lower" | "on" | "off" | "never"
  /** A change that weakens a protection and waits. */
  waiting: {
    id: string
    value: number | boolean | null
    takesEffectAt: string
  } | null
}

export type Settings = {
  settings: (Setting)[]
}

export type SharedFirewall = {
  id: string
  name: string
  rules: (FirewallRule)[]
  /** How many other servers have it. */
  otherServers: number
}

export type SignedIn = {
  accountId: string
  kind: string
  home: string
  secondFactor?: ("totp" | "passkey" | "recovery")[]
}

export type SilentPart = {
  part: "hypervisor" | "containers"
  since: string
  why: string
}

export type SmtpChanged = {
  /** Null: nothing is installed. */
  jobId: string | null
  smtpAllowed: boolean
}

export type Snapshot = {
  id: string
  serverId: string
  name: string
  comment: string
  /** taking: its job is not done yet. */
  state: "taking" | "ready"
  /** The disk when it was taken. So much space is held for it. */
  diskGb: number
  /** What it took on the node when it was taken. */
  usedBytes: number | null
  /** True: the guest had written everything to its disk. False: it starts as after a power failure. */
  consistent: boolean | null
  /** The name of who took it, as much as you may know: a provider is Staff to its customers. Null: not noted. */
  takenBy: string | null
  createdAt: string
  /** Why it cannot be restored now, in words; null: it can. */
  notRestorable: string | null
  /** Why it cannot be deleted now, in words; null: it can. */
  notDeletable: string | null
}

export type SnapshotStarted = {
  jobId: string
  serverId: string
  snapshotId: string
}

export type SoldPackage = {
  id: string | null
  name: string | null
  billingProductId: string | null
}

export type SourceRemoval = {
  node: {
    id: string
    name: string
  }
  hypervisor: {
    id: string
    name: string
    address: string
  }
  /** That the import adopted there. */
  servers: number
  /** The panel itself has its address. */
  isMaster: boolean
  /** Null: nobody has chosen yet. It can be changed. */
  choice: "keep" | "agent" | "manual" | null
  chosenAt: string | null
  /** The key of the control server, where a person has named it. */
  controlKey: string | null
  state: "idle" | "removing" | "removed" | "restoring" | "restored" | "failed"
  jobId: string | null
  warnings: ({
    code: "servers_at_source" | "panel_runs_here" | "roll_back_open"
    words: string
  })[]
  /** Why the agent removes nothing now. */
  blocked: (string)[]
  /** Null: the node does not answer; see previewProblem. */
  preview: SourceRemovalPreview | null
  previewProblem: string | null
  /** Of the last removal: where everything is now. */
  result: {
    folder: string
    items: (SourceRemovalItem)[]
    left: (SourceRemovalLeft)[]
  } | null
  removedAt: string | null
  restoredAt: string | null
  failure: {
    code: string
    words: string
  } | null
  canRestore: boolean
}

export type SourceRemovalBridge = {
  name: OneLineOfText0To60
  servers: number
  exists: boolean
  definedIn: OneLineOfText0To1024 | null
  why: OneLineOfText0To500
  settings: OneLineOfText0To60 | null
  commands: string | null
}

export type SourceRemovalItem = {
  kind: "service" | "processes" | "container" | "cron_file" | "cron_lines" | "key_line" | "folder"
  name: OneLineOfText0To1024
  now: OneLineOfText0To300
  becomes: OneLineOfText0To1024
  files: number | null
  bytes: number | null
}

export type SourceRemovalJob = {
  jobId: string
  /** Always null: the job is about a node. */
  serverId: string | null
  nodeId: string
}

export type SourceRemovalLeft = {
  name: OneLineOfText0To1024
  why: OneLineOfText0To500
}

export type SourceRemovalPreview = {
  /** Every file and service that a removal touches. */
  items: (SourceRemovalItem)[]
  /** What looks like the panel’s and stays, and why. */
  left: (SourceRemovalLeft)[]
  bridges: (SourceRemovalBridge)[]
  /** The network service and the folders stay until each bridge is defined. */
  networkStays: boolean
  /** Domains of libvirt that are none of Berth: nothing is changed while one is. */
  foreign: (string)[]
  runningServers: number
  /** Keys of root on the node, to compare: nothing is decided about them but for the control server’s. */
  rootKeys: ({
    type: string
    comment: string
    fingerprint: string
    isOurs: boolean
  })[]
  /** Run as root they do the same as the agent. */
  commands: string | null
}

export type SourceRemovals = {
  nodes: (SourceRemoval)[]
  neverTouched: string
  /** The import is finished, so it can be chosen. */
  isAsked: boolean
}

export type SshKey = {
  id: string
  ownerId: string
  name: string
  publicKey: string
  fingerprint: string
  createdAt: string
}

export type SshKeyPage = {
  data: (SshKey)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type StaffMember = {
  id: string
  email: string
  name: string
  role: {
    id: string
    name: string
  } | null
  /** Has one set up. */
  secondFactor: boolean
  seenAt: string | null
  disabledAt: string | null
  createdAt: string
}

export type StaffMemberPage = {
  data: (StaffMember)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type StartupScript = {
  /** Null: it was installed without one. */
  script: {
    name: string
    /** As it ran. */
    content: string
    /** waiting: it has not ended yet, or no guest agent answers. unknown: no end was seen within a day. */
    state: "waiting" | "ended" | "unknown"
    exitCode: number | null
    /** The first 64 KiB, any text; control and invisible characters by their codes. */
    output: string | null
    truncated: boolean
    startedAt: string
    endedAt: string | null
  } | null
}

export type Step = {
  title: string
  words: string
  done: boolean
  href: string
}

export type Stock = {
  stock: (StockLine)[]
  /** Of a reseller: the offers that it may order itself. */
  gpuStock: (GpuStockLine)[]
}

export type StockLine = {
  packageId: string
  packageName: string
  billingProductId: string | null
  location: LocationReference
  /** So many orders are accepted now, one after another. */
  available: number
  /** Counting stopped there; there may be more. */
  orMore: boolean
  /** What binds the number. */
  limit: "memory" | "reserve" | "disk" | "storage_class" | "storage_silent" | "addresses" | "closed" | "disconnected" | "hypervisor_silent" | "reconnecting" | "no_node" | "quota" | "suspended"
  /** The code that refuses the order behind the last one. */
  code: string
}

export type StockOfSize = {
  /** In all locations together. */
  available: number
  /** Counting stopped there; there may be more. */
  orMore: boolean
  locations: (StockOfSizeLine)[]
}

export type StockOfSizeLine = {
  location: LocationReference
  /** So many orders are accepted now, one after another. */
  available: number
  orMore: boolean
  /** What binds the number. */
  limit: "memory" | "reserve" | "disk" | "storage_class" | "storage_silent" | "addresses" | "closed" | "disconnected" | "hypervisor_silent" | "reconnecting" | "no_node"
}

export type StorageFill = {
  nodeId: string
  /** The start of the first step. */
  from: string
  /** The length of a step. */
  resolutionSeconds: number
  storagePools: ({
    id: string
    /** One value per step; null where nothing was measured. */
    usedPercent: (number | null)[]
    /** The same of its space for metadata. */
    metadataPercent: (number | null)[]
  })[]
}

export type StoragePool = {
  name: OneLineOfText0To32
  kind: OneLineOfText0To20
  path: OneLineOfText0To400
  totalBytes: number
  freeBytes: number
  class?: OneLineOfText0To20
  metadataTotalBytes?: number
  metadataFreeBytes?: number
  warnings?: (OneLineOfText0To300)[]
  storage?: OneLineOfText0To200
  silentSince?: string
}

/** Where its backups are stored; without a name when it was removed. */
export type TargetOfBackupPlan = {
  id: string
  name: string
}

export type TeamMember = {
  id: string
  email: string
  /** Once they have accepted. */
  name: string | null
  state: "invited" | "expired" | "member"
  role: "view" | "operate" | "manage"
  /** Null: all servers. */
  server: {
    id: string
    name: string
  } | null
  invitedBy: string
  createdAt: string
  expiresAt: string | null
  acceptedAt: string | null
}

export type TeamMemberPage = {
  data: (TeamMember)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type TimelineEntry = {
  id: string
  at: string
  kind: "change" | "job" | "alert" | "crash"
  /** The operation that was called. */
  operation: string | null
  /** Which of several things it did: `off` of `servers.power`. */
  action: string | null
  /** A sentence, where no operation says it. */
  title: string | null
  /** Null where nobody did it. */
  who: {
    name: string
    you: boolean
  } | null
  /** The address; null where you may not know it. */
  from: string | null
  /** done, fired, recovered, the state of a job, or the code of a refusal. */
  result: string
  jobId: string | null
  /** The end of what lasts: when a console was closed. */
  until: string | null
}

export type TimelineEntryPage = {
  data: (TimelineEntry)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type Token = {
  id: string
  name: string
  ending: string
  scopes: (string)[]
  allow: (string)[]
  createdAt: string
  expiresAt: string | null
  previousUntil: string | null
  usedAt: string | null
  usedFrom: string | null
}

export type TokenPage = {
  data: (Token)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type TrafficUsers = {
  per: "hour" | "day" | "month"
  from: string
  to: string
  node: {
    id: string
    name: string
  } | null
  rxBytes: number
  txBytes: number
  /** So many had traffic in that time. */
  workloads: number
  /** Both directions together, the heaviest first. */
  heaviest: ({
    id: string
    kind: string
    name: string
    owner: {
      id: string
      name: string
    }
    /** Where it is now. */
    node: {
      id: string
      name: string
    } | null
    rxBytes: number
    txBytes: number
    /** Of all traffic in that time. */
    percent: number
  })[]
  /** Of an hour the 24 hours up to it; of a day the 30 days up to it; of a month its days. */
  series: ({
    from: string
    rxBytes: number
    txBytes: number
  })[]
}

export type Transfer = {
  id: string
  server: {
    id: string
    hostname: string
  }
  /** live: moved with its memory while it runs. near_live: copied while it runs, and off for what changed meanwhile. cold: off while it is copied. reassigned: it waits for its setup, so nothing is copied. */
  mode: "live" | "near_live" | "cold" | "reassigned"
  /** switching: its system is off, until it runs on the other node. */
  state: "queued" | "copying" | "switching" | "finished" | "failed" | "cancelled"
  from: {
    id: string
    name: string
  }
  to: {
    id: string
    name: string
  }
  /** Null where nothing had to be copied, and before its time. */
  jobId: string | null
  startedBy: {
    id: string
    name: string
  }
  /** The owner of the server asked for it, or somebody who acts for the owner. */
  byOwner: boolean
  /** What it gives up and gets; null: it keeps its addresses, or has not begun yet. */
  addresses: {
    removed: (string)[]
    added: (string)[]
  } | null
  /** Does the system inside the server have its present addresses? waiting: its guest agent is asked until it answers. given_up: none answered; a Linux with cloud-init has them all the same. Null: it keeps its addresses. */
  inside: "waiting" | "done" | "given_up" | null
  /** The addresses that it gave up are held for it until then: a move back gives them back. Null: they are not. */
  addressesHeldUntil: string | null
  /** The limit of its copy in megabit per second; null: none. */
  maxMbps: number | null
  /** The data of its disks; their size, until the node has looked. */
  bytesTotal: number
  bytesCopied: number
  /** Of the copy at work, over the last seconds; null: none is. */
  bytesPerSecond: number | null
  /** Until the copy at work has ended, at that rate. */
  secondsLeft: number | null
  /** Of its job, in percent. */
  progress: number
  /** What its job does now, in words. */
  step: string | null
  /** How long it was to take, as it was announced. */
  expectedSeconds: number
  expectedDowntimeMs: number
  /** How long its system was off for it, up to now where it still is; null while it runs on. */
  downtimeMs: number | null
  /** Until it has passed its point of no return. */
  cancellable: boolean
  /** Why it failed, in words, or why it has not begun at its time yet. */
  error: string | null
  createdAt: string
  /** The time that it waits for, or has waited for; null: it was to begin at once. */
  startsAt: string | null
  beganAt: string | null
  finishedAt: string | null
}

export type TransferFigures = {
  since: string
  /** Ordered since then, also those that have not begun. */
  moves: number
  finished: number
  /** Of the finished ones during which a system was off. */
  medianDowntimeMs: number | null
  /** The finished ones of which a downtime was announced. */
  announced: number
  longerThanAnnounced: number
  /** The most by which a downtime was longer than announced. */
  longestOverMs: number | null
  bytesCopied: number
  /** Of whole moves, from their beginning to their end. */
  averageBytesPerSecond: number | null
}

export type TransferPage = {
  data: (Transfer)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type TransferProgress = {
  /** The work in the order in which it is done; empty where nothing is copied, and once its job is forgotten. */
  steps: ({
    title: string
    note: string | null
    state: "waiting" | "running" | "done" | "undone"
    startedAt: string | null
    seconds: number | null
  })[]
  /** Of the copy at work, from its beginning on; empty once it is over. */
  rates: ({
    at: string
    bytesPerSecond: number
  })[]
}

export type UpdateCheck = {
  version: string
  at: string
  by: string
  stopsSeconds: number
  findings: ({
    result: "ok" | "info" | "warn" | "bad"
    what: string
    words: string
  })[]
}

export type UpdateUpload = {
  /** So many are there: the next part begins there, also where this one was not needed. */
  bytes: number
  /** Of the release, once all of it is there and was verified. */
  version: string | null
}

export type Updates = {
  version: string
  protocol: number
  schema: string
  /** The newest release that the controller can be updated to. */
  available: string | null
  /** About how long changes are refused during an update. */
  stopsSeconds: number
  /** Why this machine takes no update by the panel; null: it does. */
  disabledReason: string | null
  /** Where the operator puts releases. */
  folder: string
  releases: (Release)[]
  /** Files in the folder that are no release, or none whose signature counts. */
  refusedFiles: ({
    file: string
    code: string
    message: string
  })[]
  upgrade: {
    state: "waiting" | "checking" | "switching" | "trying" | "going_back"
    from: string
    to: string
    by: string
    since: string
  } | null
  /** The last check. */
  check: {
    version: string
    at: string
    by: string
    stopsSeconds: number
    findings: ({
      result: "ok" | "info" | "warn" | "bad"
      what: string
      words: string
    })[]
  } | null
  source: {
    /** Null: no release is asked for anywhere. */
    url: string | null
    lookedAt: string | null
    lookedBy: string | null
    /** Found at the address. */
    version: string | null
    date: string | null
    refused: string | null
    download: {
      version: string
      bytes: number
      totalBytes: number
      error: string | null
    } | null
  }
  agents: ({
    version: string
    connected: number
    away: number
  })[]
  history: ({
    from: string
    to: string
    by: string
    startedAt: string
    endedAt: string
    stoppedSeconds: number
    result: "done" | "went_back" | "refused"
    reason: string | null
  })[]
}

export type Uplink = {
  name: string
  up: boolean
  vlans: (VlanRange)[]
  bond?: Bond
  problem?: OneLineOfText0To300
}

export type UsageAccount = {
  account: UsageOwner
  /** How many it had in the period, terminated ones included. */
  servers: number
  /** Server-days, to four decimals. */
  days: number
  seconds: number
  packages: (UsedPackages)[]
  /** The same of GPU instances. */
  gpuInstances: number
  /** How long it had them: their cards are held whether they run or not. */
  gpuSeconds: number
  gpuOffers: (UsedOffers)[]
}

export type UsageAccountPage = {
  data: (UsageAccount)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type UsageInterval = {
  serverId: string
  state: "pending_setup" | "provisioning" | "active" | "failed" | "suspended"
  /** In the period: it may have begun before. */
  from: string
  to: string
  /** Exact to the millisecond: sums of it are exact too. */
  seconds: number
  hostname: string
  owner: UsageOwner
  package: SoldPackage
  beganAt: string
  /** Null: it goes on. */
  endedAt: string | null
}

export type UsageIntervalPage = {
  data: (UsageInterval)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type UsageLine = {
  serverId: string
  kind: string
  /** At the end of the period, as are its reseller and its package. */
  hostname: string
  owner: UsageOwner
  /** Null in the answers to customers. */
  resellerId: string | null
  billingServiceId: string | null
  package: SoldPackage
  /** When it began in the period. */
  from: string
  /** When it ended, or how far the period has passed. */
  to: string
  /** Days of 24 hours, to four decimals. */
  days: number
  /** Exact to the millisecond: sums of it are exact too. */
  seconds: number
  secondsByState: SecondsByState
  /** One for each package that it had in the period. */
  packages: (UsedPackage)[]
  traffic: UsedTraffic | null
}

export type UsageLinePage = {
  data: (UsageLine)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type UsageOwner = {
  id: string
  name: string
  /** The billing system's own identifier of it. */
  externalId: string | null
}

export type UsedOffers = {
  id: string | null
  name: string | null
  billingProductId: string | null
  /** Days of 24 hours, to four decimals. */
  days: number
  /** Exact to the millisecond: sums of it are exact too. */
  seconds: number
  instances: number
}

export type UsedPackage = {
  id: string | null
  name: string | null
  billingProductId: string | null
  /** Days of 24 hours, to four decimals. */
  days: number
  /** Exact to the millisecond: sums of it are exact too. */
  seconds: number
}

export type UsedPackages = {
  id: string | null
  name: string | null
  billingProductId: string | null
  /** Days of 24 hours, to four decimals. */
  days: number
  /** Exact to the millisecond: sums of it are exact too. */
  seconds: number
  servers: number
}

export type UsedTraffic = {
  /** Received by the server. */
  inBytes: number
  outBytes: number
  measuredSeconds: number
  /** How much of the measured time nobody counted in, such as an absence of the node: its traffic is spread evenly. */
  estimatedSeconds: number
  /** For how long it was there and could not be measured. */
  gapSeconds: number
}

export type Virtualisation = {
  kind: "kvm" | "emulation" | "none"
  reason: OneLineOfText0To500
}

export type VlanRange = {
  first: number
  last: number
}

export type Volume = {
  id: string
  name: string
  sizeGb: number
  /** lost: its node was lost or removed, and the volume with it. */
  state: "creating" | "attached" | "detached" | "deleting" | "lost"
  /** Its guest finds it as /dev/disk/by-id/virtio- and this. */
  serial: string
  storageClass: string | null
  location: LocationReference
  owner: {
    id: string
    name: string
  }
  /** The server that has it; null: none. */
  server: {
    id: string
    hostname: string
  } | null
  /** The other servers of its owner on the same machine: it stays on that, so it can be attached to these. */
  attachableTo: ({
    id: string
    hostname: string
  })[]
  /** The job that changes it now. */
  jobId: string | null
  createdAt: string
}

export type VolumeDeleted = {
  /** Null: its machine was lost, so there is nothing to delete there. */
  jobId: string | null
  volumeId: string
}

export type VolumeGrows = {
  jobId: string
  volumeId: string
}

export type VolumeMoved = {
  /** Null: it is there already. */
  jobId: string | null
  volumeId: string
}

export type VolumePage = {
  data: (Volume)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type VolumeStarted = {
  jobId: string
  serverId: string
  volumeId: string
}

export type VolumeUse = {
  volumeId: string
  /** At the end of the period, as are its size and class. */
  name: string
  owner: UsageOwner
  storageClass: string | null
  sizeGb: number
  /** How long it was there, attached or not. */
  seconds: number
  /** Its size in GiB times hours, to four decimals. */
  gbHours: number
}

export type VolumeUsePage = {
  data: (VolumeUse)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type Weakening = {
  id: string
  /** The setting, or what else is weakened. */
  title: string
  /** The value that is in force, in words. */
  from: string
  /** The value that is to be. */
  to: string
  askedBy: {
    id: string
    name: string
  }
  askedAt: string
  takesEffectAt: string
  /** You asked for it yourself: another owner confirms it. */
  own: boolean
}

export type WeakeningPage = {
  data: (Weakening)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type Webhook = {
  id: string
  /** What you call it; null: the host of its address. */
  name: string | null
  url: string
  /** Types of events; `*` is every type that the owner may receive. */
  events: (string)[]
  status: "active" | "paused"
  /** failing: 50 attempts in a row failed over more than a day. gone: the receiver answered 410. */
  pauseReason: "by_hand" | "failing" | "gone" | null
  pausedAt: string | null
  /** Failed attempts since the last success. */
  failures: number
  failingSince: string | null
  /** The last success. */
  deliveredAt: string | null
  /** The last failed attempt. */
  failedAt: string | null
  /** Until then deliveries are also signed with the previous secret. */
  previousSecretUntil: string | null
  createdAt: string
}

export type WebhookAttempt = {
  n: number
  at: string
  durationMs: number
  error: string | null
  /** The address that was connected to; only staff see it. */
  address: string | null
  request: {
    method: "POST"
    url: string
    headers: ({
      name: string
      value: string
    })[]
  }
  response: {
    status: number
    headers: ({
      name: string
      value: string
    })[]
    /** Its first 16 kB. */
    body: string
    /** Of the body, as far as it was read. */
    bytes: number
    truncated: boolean
  } | null
}

export type WebhookDelivery = {
  id: string
  webhookId: string
  /** The type of the event; `test` for a test. */
  event: string
  eventId: string
  state: "waiting" | "delivered" | "failed"
  attemptCount: number
  /** 1: a test or a redelivery, which is never retried. */
  maxAttempts: number
  /** Null when it has ended. */
  nextAttemptAt: string | null
  createdAt: string
  endedAt: string | null
  /** The HTTP status of the last answer. */
  lastStatus: number | null
  lastDurationMs: number | null
  /** Why the last attempt failed. */
  error: string | null
}

export type WebhookDeliveryDetails = {
  id: string
  webhookId: string
  /** The type of the event; `test` for a test. */
  event: string
  eventId: string
  state: "waiting" | "delivered" | "failed"
  attemptCount: number
  /** 1: a test or a redelivery, which is never retried. */
  maxAttempts: number
  /** Null when it has ended. */
  nextAttemptAt: string | null
  createdAt: string
  endedAt: string | null
  /** The HTTP status of the last answer. */
  lastStatus: number | null
  lastDurationMs: number | null
  /** Why the last attempt failed. */
  error: string | null
  /** What each attempt sends, byte by byte. */
  body: string
  attempts: (WebhookAttempt)[]
}

export type WebhookDeliveryPage = {
  data: (WebhookDelivery)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type WebhookPage = {
  data: (Webhook)[]
  /** Null on the last page. */
  nextCursor: string | null
  /** Of all pages together. */
  total: number
}

export type WebhookQueue = {
  waiting: number
  /** For each delivery above it, the oldest that waits is dropped. */
  most: number
  dropped: number
  droppedAt: string | null
}

export type WorkloadsOfNode = {
  /** The first 200. */
  workloads: ({
    id: string
    hostname: string
  })[]
  count: number
}

export type WorkloadsTerminated = {
  /** The first 200, each with the job that terminates it. */
  workloads: ({
    id: string
    hostname: string
    jobId: string | null
  })[]
  count: number
  /** The first 200 extra volumes on it, attached or not: they are lost, and stay listed until deleted. */
  volumes: ({
    id: string
    name: string
  })[]
  volumeCount: number
  /** False where the brake holds some of the terminations or volumes: the node takes no new servers, and stays until a second person has released them and this is called again. */
  removed: boolean
  /** So many terminations and losses of extra volumes wait for a second person. */
  held: number
  /** What was done, in words. */
  summary: string
}

/** Operations by their ids. */
export interface Operations {
  /** What you did, and what was done to your account and servers, refused sign-ins too */
  'account.activity': {
    query?: { cursor?: string; limit?: number }
    result: ActivityPage
  }
  /** Confirm the new e-mail address with the link mailed to it */
  'account.confirm-email': {
    body: {
      token: string
    }
    result: {
      email: string
    }
  }
  /** Change the own e-mail address: it takes effect once the link mailed to it is opened */
  'account.email': {
    body: {
      email: string
      password: string
    }
    result: Done
  }
  /** The own account */
  'account.get': {
    result: OwnAccount
  }
  /** Change the own password; every other session ends */
  'account.password': {
    body: {
      current: string
      password: string
    }
    result: Done
  }
  /** Change the own name, organization, and how pages look */
  'account.update': {
    body: {
      name?: OneLineOfVisibleText1To100
      organization?: OneLineOfVisibleText0To100 | null
      theme?: "system" | "light" | "dark"
      density?: "comfortable" | "compact"
      shortcuts?: "on" | "off"
      timeZone?: string | null
    }
    result: OwnAccount
  }
  /** The same list as a spreadsheet */
  'addresses.export': {
    path: { address: string }
    query?: { at?: string }
    result: Response
  }
  /** An address as its pools have it now, and how long its history is kept */
  'addresses.get': {
    path: { address: string }
    result: AddressNow
  }
  /** Who had an address, from when to when, newest first; also an address inside an IPv6 prefix */
  'addresses.history': {
    path: { address: string }
    query?: { at?: string; cursor?: string; limit?: number }
    result: AddressHoldingPage
  }
  /** A statement in words of who had an address: at a time, or the newest 200 of all */
  'addresses.statement': {
    path: { address: string }
    query?: { at?: string }
    result: Response
  }
  /** Add an alert to a server; its owner is told when the server uses too much, or is off */
  'alerts.create': {
    path: { id: string }
    body: {
      kind: "cpu" | "memory" | "disk_io" | "network" | "traffic" | "down"
      /** cpu and memory: percent. disk_io: MiB/s. network: Mbit/s. traffic: gigabytes in the month. down: none. */
      threshold?: number | null
      minutes?: number
    }
    result: Alert
  }
  /** The alerts of a server */
  'alerts.list': {
    path: { id: string }
    query?: { cursor?: string; limit?: number }
    result: AlertPage
  }
  /** Remove an alert; one that fires says nothing more */
  'alerts.remove': {
    path: { id: string }
    result: Done
  }
  /** Change the threshold of an alert, or how long it must be exceeded */
  'alerts.update': {
    path: { id: string }
    body: {
      /** cpu and memory: percent. disk_io: MiB/s. network: Mbit/s. traffic: gigabytes in the month. down: none. */
      threshold?: number | null
      minutes?: number
    }
    result: Alert
  }
  /** Add an announcement for customers, resellers, staff or everybody, from now or from a given time */
  'announcements.create': {
    body: {
      text: OneLineOfVisibleText1To500
      audience: "everybody" | "customers" | "resellers" | "staff"
      level?: "info" | "warn" | "bad"
      /** Only for customers with a server on this node, and their resellers. */
      nodeId?: string | null
      untilConnected?: boolean
      startsAt?: string
      endsAt?: string | null
    }
    result: Announcement
  }
  /** The announcements that concern you now, newest first */
  'announcements.list': {
    query?: { cursor?: string; limit?: number }
    result: {
      data: ({
        id: string
        text: string
        level: "info" | "warn" | "bad"
        startsAt: string
        endsAt: string | null
      })[]
      /** Null on the last page. */
      nextCursor: string | null
      /** Of all pages together. */
      total: number
    }
  }
  /** Every announcement, past and to come, newest first */
  'announcements.list-all': {
    query?: { cursor?: string; limit?: number }
    result: AnnouncementPage
  }
  /** Remove an announcement */
  'announcements.remove': {
    path: { id: string }
    result: Done
  }
  /** Change an announcement; what is not sent stays as it is */
  'announcements.update': {
    path: { id: string }
    body: {
      text?: OneLineOfVisibleText1To500
      audience?: "everybody" | "customers" | "resellers" | "staff"
      level?: "info" | "warn" | "bad"
      startsAt?: string
      endsAt?: string | null
    }
    result: Announcement
  }
  /** The audit log as a spreadsheet, newest first */
  'audit.export-csv': {
    query?: { who?: string; actorId?: string; operation?: string; target?: string; from?: string; result?: "done" | "refused" | "invalid_json" | "invalid_request" | "invalid_idempotency_key" | "invalid_token" | "not_authenticated" | "forbidden" | "missing_scope" | "scope_not_allowed" | "token_not_allowed" | "ip_not_allowed" | "csrf_failed" | "bad_origin" | "support_session" | "confirmation_required" | "second_factor_required" | "not_found" | "method_not_allowed" | "name_taken" | "in_use" | "source_unreachable" | "already_done" | "not_possible" | "too_large" | "unsupported_media_type" | "validation_failed" | "limit_reached" | "rate_limited" | "internal_error" | "restarting" | "customer_not_found" | "account_locked" | "email_taken" | "external_id_taken" | "staff_not_found" | "role_not_found" | "setup_link_invalid" | "reseller_not_found" | "reseller_suspended" | "quota_exceeded" | "package_not_allowed" | "location_not_allowed" | "saved_filter_not_found" | "node_not_found" | "enrollment_not_found" | "enrollment_expired" | "enrollment_not_valid" | "node_not_known" | "node_declared_lost" | "challenge_expired" | "node_lost" | "already_enrolled" | "node_held" | "node_connected" | "protocol_mismatch" | "placement_group_unmet" | "storage_pool_not_found" | "gpu_card_not_found" | "location_not_found" | "location_closed" | "server_not_found" | "not_set_up" | "server_busy" | "server_suspended" | "server_terminated" | "server_failed" | "server_protected" | "not_terminated" | "already_suspended" | "not_suspended" | "already_running" | "already_stopped" | "already_set_up" | "already_in_rescue" | "not_in_rescue" | "hostname_taken" | "billing_service_id_taken" | "no_capacity" | "disk_too_small" | "no_room_to_reinstall" | "image_not_supported" | "no_rescue_image" | "address_stays" | "traffic_not_limited" | "gpu_instance_not_found" | "gpu_instance_busy" | "gpu_instance_suspended" | "gpu_instance_failed" | "gpu_instance_deleted" | "brake_not_found" | "floating_ip_not_found" | "floating_ip_busy" | "floating_ip_assigned" | "address_not_routed" | "snapshot_not_found" | "snapshot_limit" | "snapshot_in_use" | "balance_changed" | "placement_group_not_found" | "suggestion_changed" | "transfer_not_found" | "transfer_ended" | "not_elsewhere" | "runs_twice" | "not_adoptable" | "not_movable" | "bulk_action_not_found" | "bulk_action_ended" | "selection_changed" | "selection_too_large" | "rolling_maintenance_not_found" | "drain_not_found" | "drain_at_work" | "drain_ended" | "drain_state" | "node_is_away" | "node_is_lost" | "volume_not_found" | "volume_busy" | "volume_attached" | "volume_elsewhere" | "volume_lost" | "iso_not_found" | "backup_not_found" | "backup_not_ready" | "backup_limit" | "backup_elsewhere" | "no_backup_target" | "backup_file_not_found" | "backup_not_browsable" | "backup_files_unavailable" | "backup_target_not_found" | "backup_plan_not_found" | "drill_running" | "script_not_found" | "alert_not_found" | "no_name_server" | "name_leads_elsewhere" | "name_of_another" | "name_server_refused" | "network_not_found" | "network_overlaps" | "network_full" | "firewall_not_found" | "rule_not_found" | "ssh_closed" | "job_not_found" | "job_ended" | "job_not_cancellable" | "pool_not_found" | "address_not_found" | "no_addresses" | "pool_overlaps" | "vlan_not_carried" | "address_retired" | "address_in_use" | "image_not_found" | "signature_refused" | "not_from_catalogue" | "package_not_found" | "gpu_image_not_found" | "gpu_offer_not_found" | "ssh_key_not_found" | "team_member_not_found" | "membership_not_found" | "invitation_not_valid" | "sign_in_failed" | "session_not_found" | "link_not_valid" | "identity_not_found" | "passkey_not_found" | "event_not_found" | "webhook_not_found" | "delivery_not_found" | "token_not_found" | "message_not_found" | "message_state" | "announcement_not_found" | "no_mail_server" | "mail_refused" | "key_file_not_usable" | "former_key_not_found" | "former_key_in_use" | "weakening_not_found" | "last_owner" | "import_not_found" | "import_server_not_found" | "import_busy" | "import_started" | "import_ended" | "import_not_discovered" | "import_not_checked" | "import_not_migrating" | "import_not_moved" | "certificate_not_asked" | "choice_not_offered" | "hypervisor_without_address" | "no_copying_node" | "import_conflicts" | "server_not_moving" | "source_removal_not_chosen" | "source_removed" | "source_not_removed" | "source_still_needed" | "source_unknown" | "import_server_not_moved" | "roll_back_not_possible" | "no_backup_plan" | "release_not_found" | "update_refused" | "update_under_way" | "update_not_waiting" | "no_update_source" | "no_update_offered" | "roll_out_not_found" | "roll_out_at_work" | "roll_out_release" | "roll_out_empty" | "roll_out_ended" | "roll_out_state"; since?: string; until?: string }
    result: Response
  }
  /** The audit log as a file of JSON lines, newest first */
  'audit.export-jsonl': {
    query?: { who?: string; actorId?: string; operation?: string; target?: string; from?: string; result?: "done" | "refused" | "invalid_json" | "invalid_request" | "invalid_idempotency_key" | "invalid_token" | "not_authenticated" | "forbidden" | "missing_scope" | "scope_not_allowed" | "token_not_allowed" | "ip_not_allowed" | "csrf_failed" | "bad_origin" | "support_session" | "confirmation_required" | "second_factor_required" | "not_found" | "method_not_allowed" | "name_taken" | "in_use" | "source_unreachable" | "already_done" | "not_possible" | "too_large" | "unsupported_media_type" | "validation_failed" | "limit_reached" | "rate_limited" | "internal_error" | "restarting" | "customer_not_found" | "account_locked" | "email_taken" | "external_id_taken" | "staff_not_found" | "role_not_found" | "setup_link_invalid" | "reseller_not_found" | "reseller_suspended" | "quota_exceeded" | "package_not_allowed" | "location_not_allowed" | "saved_filter_not_found" | "node_not_found" | "enrollment_not_found" | "enrollment_expired" | "enrollment_not_valid" | "node_not_known" | "node_declared_lost" | "challenge_expired" | "node_lost" | "already_enrolled" | "node_held" | "node_connected" | "protocol_mismatch" | "placement_group_unmet" | "storage_pool_not_found" | "gpu_card_not_found" | "location_not_found" | "location_closed" | "server_not_found" | "not_set_up" | "server_busy" | "server_suspended" | "server_terminated" | "server_failed" | "server_protected" | "not_terminated" | "already_suspended" | "not_suspended" | "already_running" | "already_stopped" | "already_set_up" | "already_in_rescue" | "not_in_rescue" | "hostname_taken" | "billing_service_id_taken" | "no_capacity" | "disk_too_small" | "no_room_to_reinstall" | "image_not_supported" | "no_rescue_image" | "address_stays" | "traffic_not_limited" | "gpu_instance_not_found" | "gpu_instance_busy" | "gpu_instance_suspended" | "gpu_instance_failed" | "gpu_instance_deleted" | "brake_not_found" | "floating_ip_not_found" | "floating_ip_busy" | "floating_ip_assigned" | "address_not_routed" | "snapshot_not_found" | "snapshot_limit" | "snapshot_in_use" | "balance_changed" | "placement_group_not_found" | "suggestion_changed" | "transfer_not_found" | "transfer_ended" | "not_elsewhere" | "runs_twice" | "not_adoptable" | "not_movable" | "bulk_action_not_found" | "bulk_action_ended" | "selection_changed" | "selection_too_large" | "rolling_maintenance_not_found" | "drain_not_found" | "drain_at_work" | "drain_ended" | "drain_state" | "node_is_away" | "node_is_lost" | "volume_not_found" | "volume_busy" | "volume_attached" | "volume_elsewhere" | "volume_lost" | "iso_not_found" | "backup_not_found" | "backup_not_ready" | "backup_limit" | "backup_elsewhere" | "no_backup_target" | "backup_file_not_found" | "backup_not_browsable" | "backup_files_unavailable" | "backup_target_not_found" | "backup_plan_not_found" | "drill_running" | "script_not_found" | "alert_not_found" | "no_name_server" | "name_leads_elsewhere" | "name_of_another" | "name_server_refused" | "network_not_found" | "network_overlaps" | "network_full" | "firewall_not_found" | "rule_not_found" | "ssh_closed" | "job_not_found" | "job_ended" | "job_not_cancellable" | "pool_not_found" | "address_not_found" | "no_addresses" | "pool_overlaps" | "vlan_not_carried" | "address_retired" | "address_in_use" | "image_not_found" | "signature_refused" | "not_from_catalogue" | "package_not_found" | "gpu_image_not_found" | "gpu_offer_not_found" | "ssh_key_not_found" | "team_member_not_found" | "membership_not_found" | "invitation_not_valid" | "sign_in_failed" | "session_not_found" | "link_not_valid" | "identity_not_found" | "passkey_not_found" | "event_not_found" | "webhook_not_found" | "delivery_not_found" | "token_not_found" | "message_not_found" | "message_state" | "announcement_not_found" | "no_mail_server" | "mail_refused" | "key_file_not_usable" | "former_key_not_found" | "former_key_in_use" | "weakening_not_found" | "last_owner" | "import_not_found" | "import_server_not_found" | "import_busy" | "import_started" | "import_ended" | "import_not_discovered" | "import_not_checked" | "import_not_migrating" | "import_not_moved" | "certificate_not_asked" | "choice_not_offered" | "hypervisor_without_address" | "no_copying_node" | "import_conflicts" | "server_not_moving" | "source_removal_not_chosen" | "source_removed" | "source_not_removed" | "source_still_needed" | "source_unknown" | "import_server_not_moved" | "roll_back_not_possible" | "no_backup_plan" | "release_not_found" | "update_refused" | "update_under_way" | "update_not_waiting" | "no_update_source" | "no_update_offered" | "roll_out_not_found" | "roll_out_at_work" | "roll_out_release" | "roll_out_empty" | "roll_out_ended" | "roll_out_state"; since?: string; until?: string }
    result: Response
  }
  /** Every change, who made it, from where, and every refused sign-in */
  'audit.list': {
    query?: { who?: string; actorId?: string; operation?: string; target?: string; from?: string; result?: "done" | "refused" | "invalid_json" | "invalid_request" | "invalid_idempotency_key" | "invalid_token" | "not_authenticated" | "forbidden" | "missing_scope" | "scope_not_allowed" | "token_not_allowed" | "ip_not_allowed" | "csrf_failed" | "bad_origin" | "support_session" | "confirmation_required" | "second_factor_required" | "not_found" | "method_not_allowed" | "name_taken" | "in_use" | "source_unreachable" | "already_done" | "not_possible" | "too_large" | "unsupported_media_type" | "validation_failed" | "limit_reached" | "rate_limited" | "internal_error" | "restarting" | "customer_not_found" | "account_locked" | "email_taken" | "external_id_taken" | "staff_not_found" | "role_not_found" | "setup_link_invalid" | "reseller_not_found" | "reseller_suspended" | "quota_exceeded" | "package_not_allowed" | "location_not_allowed" | "saved_filter_not_found" | "node_not_found" | "enrollment_not_found" | "enrollment_expired" | "enrollment_not_valid" | "node_not_known" | "node_declared_lost" | "challenge_expired" | "node_lost" | "already_enrolled" | "node_held" | "node_connected" | "protocol_mismatch" | "placement_group_unmet" | "storage_pool_not_found" | "gpu_card_not_found" | "location_not_found" | "location_closed" | "server_not_found" | "not_set_up" | "server_busy" | "server_suspended" | "server_terminated" | "server_failed" | "server_protected" | "not_terminated" | "already_suspended" | "not_suspended" | "already_running" | "already_stopped" | "already_set_up" | "already_in_rescue" | "not_in_rescue" | "hostname_taken" | "billing_service_id_taken" | "no_capacity" | "disk_too_small" | "no_room_to_reinstall" | "image_not_supported" | "no_rescue_image" | "address_stays" | "traffic_not_limited" | "gpu_instance_not_found" | "gpu_instance_busy" | "gpu_instance_suspended" | "gpu_instance_failed" | "gpu_instance_deleted" | "brake_not_found" | "floating_ip_not_found" | "floating_ip_busy" | "floating_ip_assigned" | "address_not_routed" | "snapshot_not_found" | "snapshot_limit" | "snapshot_in_use" | "balance_changed" | "placement_group_not_found" | "suggestion_changed" | "transfer_not_found" | "transfer_ended" | "not_elsewhere" | "runs_twice" | "not_adoptable" | "not_movable" | "bulk_action_not_found" | "bulk_action_ended" | "selection_changed" | "selection_too_large" | "rolling_maintenance_not_found" | "drain_not_found" | "drain_at_work" | "drain_ended" | "drain_state" | "node_is_away" | "node_is_lost" | "volume_not_found" | "volume_busy" | "volume_attached" | "volume_elsewhere" | "volume_lost" | "iso_not_found" | "backup_not_found" | "backup_not_ready" | "backup_limit" | "backup_elsewhere" | "no_backup_target" | "backup_file_not_found" | "backup_not_browsable" | "backup_files_unavailable" | "backup_target_not_found" | "backup_plan_not_found" | "drill_running" | "script_not_found" | "alert_not_found" | "no_name_server" | "name_leads_elsewhere" | "name_of_another" | "name_server_refused" | "network_not_found" | "network_overlaps" | "network_full" | "firewall_not_found" | "rule_not_found" | "ssh_closed" | "job_not_found" | "job_ended" | "job_not_cancellable" | "pool_not_found" | "address_not_found" | "no_addresses" | "pool_overlaps" | "vlan_not_carried" | "address_retired" | "address_in_use" | "image_not_found" | "signature_refused" | "not_from_catalogue" | "package_not_found" | "gpu_image_not_found" | "gpu_offer_not_found" | "ssh_key_not_found" | "team_member_not_found" | "membership_not_found" | "invitation_not_valid" | "sign_in_failed" | "session_not_found" | "link_not_valid" | "identity_not_found" | "passkey_not_found" | "event_not_found" | "webhook_not_found" | "delivery_not_found" | "token_not_found" | "message_not_found" | "message_state" | "announcement_not_found" | "no_mail_server" | "mail_refused" | "key_file_not_usable" | "former_key_not_found" | "former_key_in_use" | "weakening_not_found" | "last_owner" | "import_not_found" | "import_server_not_found" | "import_busy" | "import_started" | "import_ended" | "import_not_discovered" | "import_not_checked" | "import_not_migrating" | "import_not_moved" | "certificate_not_asked" | "choice_not_offered" | "hypervisor_without_address" | "no_copying_node" | "import_conflicts" | "server_not_moving" | "source_removal_not_chosen" | "source_removed" | "source_not_removed" | "source_still_needed" | "source_unknown" | "import_server_not_moved" | "roll_back_not_possible" | "no_backup_plan" | "release_not_found" | "update_refused" | "update_under_way" | "update_not_waiting" | "no_update_source" | "no_update_offered" | "roll_out_not_found" | "roll_out_at_work" | "roll_out_release" | "roll_out_empty" | "roll_out_ended" | "roll_out_state"; since?: string; until?: string; cursor?: string; limit?: number }
    result: AuditLinePage
  }
  /** Check that the audit log is as it was written and ends where it ended; names the first line that is not */
  'audit.verify': {
    result: {
      lines: number
      ok: boolean
      brokenAt: string | null
      /** The newest line as it was written to a signed file outside the database, at most a minute ago; null before there is one. */
      anchor: {
        line: number
        at: string | null
        /** `differs`: lines are missing at the end, or were replaced. `not_signed`: its signature is of no key of the key file. */
        state: "matches" | "differs" | "not_signed"
      } | null
    }
  }
  /** Add a backup plan that servers can be put on */
  'backup-plans.create': {
    body: {
      name: OneLineOfVisibleText1To60
      targetId: string
      every: "six_hours" | "twelve_hours" | "day" | "sunday" | "monday" | "tuesday" | "wednesday" | "thursday" | "friday" | "saturday"
      startsAt: string
      windowMinutes: number
      /** A name such as Europe/Berlin. */
      timeZone: string
      keepLast: number
      keepDaily?: number
      keepWeekly?: number
      keepMonthly?: number
      billingProductId?: OneLineOfVisibleText0To100 | null
    }
    result: BackupPlan
  }
  /** Backup plans by name, with their identifiers: what servers can be put on */
  'backup-plans.list': {
    query?: { cursor?: string; limit?: number }
    result: BackupPlanPage
  }
  /** Change a backup plan; its servers follow it from their next backup on. That it keeps less needs a person, and waits */
  'backup-plans.update': {
    path: { id: string }
    body: {
      name?: OneLineOfVisibleText1To60
      targetId?: string
      every?: "six_hours" | "twelve_hours" | "day" | "sunday" | "monday" | "tuesday" | "wednesday" | "thursday" | "friday" | "saturday"
      startsAt?: string
      windowMinutes?: number
      /** A name such as Europe/Berlin. */
      timeZone?: string
      keepLast?: number
      keepDaily?: number
      keepWeekly?: number
      keepMonthly?: number
      billingProductId?: OneLineOfVisibleText0To100 | null
      archived?: boolean
    }
    result: BackupPlan
  }
  /** The repository of each account in each place for backups, and in the folder of each node, damaged ones first: what the daily check found */
  'backup-repositories.list': {
    query?: { cursor?: string; limit?: number }
    result: BackupRepositoryPage
  }
  /** Add a folder on nodes for backups; on each node root makes the file .berth-backups in it */
  'backup-targets.add-local': {
    body: {
      name: OneLineOfVisibleText1To80
      /** Like /srv/backups. */
      address: string
    }
    result: BackupTarget
  }
  /** Add a REST server of restic for backups, such as `berth backup-server`; nothing is written there yet */
  'backup-targets.add-rest': {
    body: {
      name: OneLineOfVisibleText1To80
      /** Like https://backups.example.com:8000/node1/. */
      address: string
      login?: string
      /** Its password. */
      secret?: string
      /** The certificate of an authority that not everybody trusts. */
      trust?: string
    }
    result: BackupTarget
  }
  /** Add a bucket of S3 for backups; nothing is written there yet */
  'backup-targets.add-s3': {
    body: {
      name: OneLineOfVisibleText1To80
      /** Like https://s3.example.com/bucket/folder. */
      address: string
      /** The access key. */
      login: string
      /** The secret key. */
      secret: string
      /** The certificate of an authority that not everybody trusts. */
      trust?: string
    }
    result: BackupTarget
  }
  /** Add a folder that SFTP reaches for backups; nothing is written there yet */
  'backup-targets.add-sftp': {
    body: {
      name: OneLineOfVisibleText1To80
      /** Like sftp://backups.example.com:22/home/backups. */
      address: string
      /** The user. */
      login: string
      /** The private key of SSH, without a passphrase. */
      secret: string
      /** The host key like ssh-ed25519 AAAA…, one a line. */
      trust: string
    }
    result: BackupTarget
  }
  /** The places for backups of servers, each with its last test, without secrets */
  'backup-targets.list': {
    query?: { cursor?: string; limit?: number }
    result: BackupTargetPage
  }
  /** Let backups that no plan makes go to this target from now on; those that are made stay where they are */
  'backup-targets.make-default': {
    path: { id: string }
    result: BackupTarget
  }
  /** Forget a place for backups; what lies there stays */
  'backup-targets.remove': {
    path: { id: string }
    query?: { forgetBackups?: "true" | "false" }
    result: Done
  }
  /** Forget the login that a node has of its own: it uses that of the target again, where it may */
  'backup-targets.remove-node-login': {
    path: { id: string }
    body: {
      nodeId: string
    }
    result: BackupTarget
  }
  /** Give a node a login of its own at a place for backups: its commands use that one from now on */
  'backup-targets.set-node-login': {
    path: { id: string }
    body: {
      nodeId: string
      /** The user, the access key, or the login. */
      login: string
      /** The private key, the secret key, or the password. It reaches the same repositories as the login of the target. */
      secret: string
    }
    result: BackupTarget
  }
  /** Try a place for backups from a node: look for the backups that it made, store a few bytes, read them back, find whether they could be erased */
  'backup-targets.test': {
    path: { id: string }
    body: {
      nodeId: string
    }
    result: {
      jobId: string
    }
  }
  /** Change a place for backups; without a secret the one that is kept stays, as long as it goes to the same host */
  'backup-targets.update': {
    path: { id: string }
    body: {
      name?: OneLineOfVisibleText1To80
      address?: string
      login?: string
      secret?: string
      trust?: string
      /** A node without a login of its own does not reach it. */
      ownLoginsOnly?: boolean
      /** Its backups lie at the new address already, which is needed while it has some. */
      moved?: boolean
    }
    result: BackupTarget
  }
  /** The days of a month on which backups of a server began, in the time zone of its plan */
  'backups.calendar': {
    path: { id: string }
    query?: { month?: string }
    result: BackupCalendar
  }
  /** Back up the disk of a server; it may run, and the backup goes to the default target */
  'backups.create': {
    path: { id: string }
    body: {
      /** Deleted after so many days. Without it: not by itself. */
      keepDays?: number
    }
    result: BackupStarted
  }
  /** Delete a backup by its own id, also when its server is terminated or belongs to another account now */
  'backups.delete': {
    path: { id: string }
    result: BackupDeleted
  }
  /** A file out of the disk of a backup. Each download is in the audit log */
  'backups.download-file': {
    path: { id: string }
    query?: { partition?: number; path?: string }
    result: Response
  }
  /** Restore a backup into a machine without network, wait until its system answers, and remove it again */
  'backups.drill': {
    path: { id: string }
    result: BackupDrillStarted
  }
  /** The restore drill: the last restore that worked, and whether one is under way */
  'backups.drills': {
    result: RestoreDrills
  }
  /** One backup, also of a server that is terminated */
  'backups.get': {
    path: { id: string }
    result: BackupRecord
  }
  /** The backups of a server under its present owner, newest first */
  'backups.list': {
    path: { id: string }
    query?: { cursor?: string; limit?: number }
    result: {
      data: (Backup)[]
      nextCursor: string | null
      total: number
      /** The newest backup, when it failed and nobody had cancelled it. Null: the newest one worked, or there is none. */
      lastFailure: BackupRecord | null
      /** So many snapshots go with the present disk when a backup is restored in place. */
      snapshots: number
      /** Why none can be made now, in words; null: one can. */
      notTakeable: string | null
    }
  }
  /** Every backup that you own or have in your care, also of servers that are terminated, newest first */
  'backups.list-all': {
    query?: { serverId?: string; left?: "true" | "false"; cursor?: string; limit?: number }
    result: BackupRecordPage
  }
  /** A directory in the disk of a backup, directories first, 400 entries at a time */
  'backups.list-files': {
    path: { id: string }
    query?: { partition?: number; path?: string; skip?: number }
    result: BackupFiles
  }
  /** The backup plan of a server, and when its next backup begins */
  'backups.plan': {
    path: { id: string }
    result: ServerBackupPlan
  }
  /** The key of your backups, and how to get a disk back with restic alone */
  'backups.recovery-sheet': {
    result: RecoverySheet
  }
  /** Delete a backup; a target that is append-only keeps it, and it stays listed */
  'backups.remove': {
    path: { id: string; backupId: string }
    result: JobStarted
  }
  /** Replace the disk of a server by that of a backup; everything written since is lost, as are its snapshots */
  'backups.restore': {
    path: { id: string; backupId: string }
    result: JobStarted
  }
  /** Order a server for the owner of a backup, with the disk of the backup */
  'backups.restore-to-new-server': {
    path: { id: string }
    body: {
      packageId: string
      nodeGroupId: string
      hostname?: string
      /** A placement group of the owner, which the server joins. */
      placementGroupId?: string
      /** new (the default): its system gets the hostname, new SSH host keys and a new machine id, so that it can run beside the server of the backup. keep: it keeps those in the backup, to take the place of that server. */
      identity?: "new" | "keep"
    }
    result: BackupRestoredToServer
  }
  /** Put a server on a backup plan; null takes it off, and its backups of the plan are kept for a while */
  'backups.set-plan': {
    path: { id: string }
    body: {
      planId: string | null
    }
    result: ServerBackupPlanSet
  }
  /** Begin moves that were suggested, all of them or none */
  'balance.apply': {
    path: { id: string }
    body: {
      moves: ({
        serverId: string
        nodeId: string
      })[]
    }
    result: BalanceBegun
  }
  /** Which moves would relieve the nodes of a location that are nearly full */
  'balance.get': {
    path: { id: string }
    result: Balance
  }
  /** The server or GPU instance of a service of a billing system, and how many the service ever had */
  'billing.service': {
    query?: { billingServiceId?: string; resellerId?: string }
    result: BillingService
  }
  /** Whether a billing system can work with its token: whose it is, what it may do and what it lacks */
  'billing.test-connection': {
    result: BillingConnection
  }
  /** Destructions that wait for a second person, by the account that asked for them, newest first */
  'brakes.list': {
    query?: { cursor?: string; limit?: number }
    result: BrakePage
  }
  /** Refuse what was held: terminated servers are brought back, and held jobs are cancelled */
  'brakes.refuse': {
    path: { id: string }
    body: {
      /** Only these, by the `id` of what is held; without it, all. */
      heldIds?: (string)[]
    }
    result: BrakeDecided
  }
  /** Release what was held: disks of servers are deleted when their undelete window ends, and held jobs begin */
  'brakes.release': {
    path: { id: string }
    body: {
      /** Only these, by the `id` of what is held; without it, all. */
      heldIds?: (string)[]
    }
    result: BrakeDecided
  }
  /** Name, logo, colour, support link and mail sender of this installation; null is inherited */
  'branding.get': {
    result: Branding
  }
  /** Remove the logo of this installation */
  'branding.remove-logo': {
    result: Done
  }
  /** Set name, colour, support link and mail sender of this installation; what is null or left out is inherited */
  'branding.set': {
    body: {
      name?: OneLineOfVisibleText1To60 | null
      accent?: string | null
      senderName?: OneLineOfVisibleText1To60 | null
      senderAddress?: string | null
      supportLink?: OneLineOfVisibleText1To254 | null
    }
    result: Branding
  }
  /** Set the logo of this installation: a PNG, JPEG or WebP picture of up to 100 kB */
  'branding.set-logo': {
    body: {
      image: string
    }
    result: Branding
  }
  /** Cancel an action for many: what has begun comes to its end, and nothing more begins */
  'bulk-actions.cancel': {
    path: { id: string }
    result: BulkAction
  }
  /** How far an action for many is; follow it until `finishedAt` is set */
  'bulk-actions.get': {
    path: { id: string }
    result: BulkAction
  }
  /** Actions for many servers or GPU instances, newest first */
  'bulk-actions.list': {
    query?: { cursor?: string; limit?: number }
    result: BulkActionPage
  }
  /** What became of each of its servers or GPU instances, in their order */
  'bulk-actions.servers': {
    path: { id: string }
    query?: { state?: "waiting" | "running" | "done" | "failed" | "refused" | "cancelled"; cursor?: string; limit?: number }
    result: BulkActionServerPage
  }
  /** Names of nodes, locations, packages or address pools to choose from: 25 at most */
  'choices.find': {
    query?: { of?: "node" | "location" | "address pool" | "package"; q?: string; chosenId?: string }
    result: {
      data: ({
        id: string
        name: string
      })[]
      /** There are others: search for them. */
      more: boolean
    }
  }
  /** Open the console of a server, its screen or its serial line: makes a ticket for one connection */
  'consoles.create-ticket': {
    path: { id: string }
    body: {
      /** vnc: the screen. serial: the first serial line. */
      kind: "vnc" | "serial"
    }
    result: ConsoleTicket
  }
  /** Back up the database of the controller each day into these targets; without any there are no backups. Fewer targets or days need a person, and wait */
  'controller-backups.configure': {
    body: {
      targetIds: (string)[]
      hour: number
      keepDays: number
    }
    result: Done
  }
  /** Backups of the database of the controller: when and where, and the last of each target */
  'controller-backups.get': {
    result: ControllerBackups
  }
  /** Back up the database of the controller now, into every target of the plan; it begins within seconds */
  'controller-backups.make': {
    result: Done
  }
  /** Give servers the CPU model of their location, from their next start from off */
  'cpu-baseline.adopt': {
    path: { id: string }
    body: {
      serverIds: (string)[]
    }
    result: CpuBaselineAdopted
  }
  /** The CPU model of new servers of a location, which nodes run it, and which servers have another one */
  'cpu-baseline.get': {
    path: { id: string }
    result: CpuBaseline
  }
  /** Set the CPU model of new servers of a location; nodes that do not run it get none of them */
  'cpu-baseline.set': {
    path: { id: string }
    body: {
      /** Null: that of their node. */
      model: string | null
    }
    result: Done
  }
  /** Add a customer */
  'customers.create': {
    body: {
      name: OneLineOfVisibleText1To100
      email: string
      organization?: OneLineOfVisibleText0To100 | null
      externalId?: OneLineOfVisibleText1To100 | null
      invite?: boolean
    }
    result: Customer
  }
  /** Customers and resellers as a spreadsheet, filtered and sorted as the list */
  'customers.export': {
    query?: { q?: string; email?: string; externalId?: string; locked?: "yes"; sort?: "name" | "-name" | "email" | "-email" | "externalId" | "-externalId" | "lockedAt" | "-lockedAt" | "createdAt" | "-createdAt"; resellerId?: string }
    result: Response
  }
  /** One customer */
  'customers.get': {
    path: { id: string }
    result: Customer
  }
  /** Mail a customer without a password a link to choose one; an earlier link ends */
  'customers.invite': {
    path: { id: string }
    result: Done
  }
  /** Customers and resellers, newest first */
  'customers.list': {
    query?: { q?: string; email?: string; externalId?: string; locked?: "yes"; sort?: "name" | "-name" | "email" | "-email" | "externalId" | "-externalId" | "lockedAt" | "-lockedAt" | "createdAt" | "-createdAt"; resellerId?: string; cursor?: string; limit?: number }
    result: CustomerPage
  }
  /** Lock a customer: its servers keep running, and it may neither order nor control them */
  'customers.lock': {
    path: { id: string }
    body: {
      reason: OneLineOfVisibleText1To500
    }
    result: Customer
  }
  /** Remove a lost second factor from a customer: they sign in with the password alone until they set up another */
  'customers.reset-second-factor': {
    path: { id: string }
    body: {
      reason: AReasonInWords1To500
    }
    result: Done
  }
  /** Set what a customer has bought besides its packages; what is left out is none */
  'customers.set-allowance': {
    path: { id: string }
    body: {
      vcpus?: number
      memoryMb?: number
      diskGb?: number
      trafficGb?: number
      ipv4?: number
    }
    result: Allowance
  }
  /** Set how many GPUs a customer may have where it orders instances itself; 0: it orders none */
  'customers.set-gpu-limit': {
    path: { id: string }
    body: {
      /** Those of instances that others ordered for it count too. Instances that it has stay. */
      gpuLimit: number
    }
    result: GpuLimit
  }
  /** Unlock a customer: orders are accepted again */
  'customers.unlock': {
    path: { id: string }
    result: Customer
  }
  /** Change a customer; what is not sent stays as it is */
  'customers.update': {
    path: { id: string }
    body: {
      name?: OneLineOfVisibleText1To100
      email?: string
      organization?: OneLineOfVisibleText0To100 | null
      externalId?: OneLineOfVisibleText1To100 | null
    }
    result: Customer
  }
  /** Cancel a drain: what has moved stays where it is, and the node stays closed */
  'drains.cancel': {
    path: { id: string }
    body: {
      /** Moves at work come to their end, or are cancelled as far as they can be. Without it: finish. */
      moves?: "finish" | "cancel"
    }
    result: Drain
  }
  /** Stop what is still on a node after its drain, with a notice to the owners */
  'drains.evacuate': {
    path: { id: string }
    body: {
      /** The name of the node, typed to confirm. */
      name: string
    }
    result: EvacuationStarted
  }
  /** One drain with its servers; follow it until `finishedAt` is set */
  'drains.get': {
    path: { id: string }
    result: DrainDetail
  }
  /** Leave a server of a drain where it is: it is tried no more, and the others go on */
  'drains.leave': {
    path: { id: string }
    body: {
      serverId: string
    }
    result: Drain
  }
  /** Nodes that were emptied, and servers that came back to one, newest first */
  'drains.list': {
    query?: { nodeId?: string; state?: "running" | "paused" | "cancelling" | "cancelled" | "done"; cursor?: string; limit?: number }
    result: DrainPage
  }
  /** Pause a drain: no further move begins, until it is resumed */
  'drains.pause': {
    path: { id: string }
    body: {
      /** Moves at work come to their end, or are cancelled as far as they can be. Without it: finish. */
      moves?: "finish" | "cancel"
    }
    result: Drain
  }
  /** Resume a drain that was paused; servers that failed stay on the list */
  'drains.resume': {
    path: { id: string }
    result: Drain
  }
  /** Try a server again that could not move: it waits for its turn, and is placed anew */
  'drains.retry': {
    path: { id: string }
    body: {
      serverId: string
    }
    result: Drain
  }
  /** Send a server of a drain to a node of your choice; one that failed gets another turn */
  'drains.send': {
    path: { id: string }
    body: {
      serverId: string
      /** null: placement chooses. */
      nodeId: string | null
    }
    result: Drain
  }
  /** Close a node and move its servers to others, as the plan says; each is placed anew when its move begins */
  'drains.start': {
    path: { id: string }
    body: {
      /** So many moves at a time, and no more than the setting. Without it: the setting. */
      atOnce?: number
      /** The most megabit per second that a move takes. */
      maxMbps?: number | null
      /** continue: a server that could not move is listed, and the others go on. pause: it waits for a person. Without it: continue. */
      onFailure?: "continue" | "pause"
      /** Why the node is closed, for colleagues. */
      reason?: string
    }
    result: Drain
  }
  /** One event */
  'events.get': {
    path: { id: string }
    result: Event
  }
  /** Events of the last 30 days that you may receive, in the order in which they happened */
  'events.list': {
    query?: { after?: string; type?: string; sort?: "created_at" | "-created_at"; cursor?: string; limit?: number }
    result: EventPage
  }
  /** The types of events that you can receive, each with its audience */
  'events.types': {
    result: {
      types: (EventType)[]
    }
  }
  /** Add a rule at the end of a shared firewall, on every server that has it */
  'firewalls.add-rule': {
    path: { id: string }
    body: FirewallRuleBody
    result: Firewall
  }
  /** Add a firewall that several servers of a customer can share */
  'firewalls.create': {
    path: { id: string }
    body: {
      name: OneLineOfVisibleText1To60
      rules?: (FirewallRuleBody)[]
    }
    result: Firewall
  }
  /** A firewall that servers share, with its rules and the servers that have it */
  'firewalls.get': {
    path: { id: string }
    result: Firewall
  }
  /** The firewalls that servers of a customer can share */
  'firewalls.list': {
    path: { id: string }
    query?: { cursor?: string; limit?: number }
    result: FirewallPage
  }
  /** Remove a shared firewall that no server has */
  'firewalls.remove': {
    path: { id: string }
    result: Done
  }
  /** Remove a rule from a shared firewall, on every server that has it */
  'firewalls.remove-rule': {
    path: { id: string; ruleId: string }
    result: Firewall
  }
  /** Change the name or the rules of a shared firewall, on every server that has it */
  'firewalls.update': {
    path: { id: string }
    body: {
      name?: OneLineOfVisibleText1To60
      rules?: (FirewallRuleBody)[]
    }
    result: Firewall
  }
  /** Point a floating address to a server of its owner; another server that has it loses it first */
  'floating-ips.assign': {
    path: { id: string }
    body: {
      serverId: string
    }
    result: FloatingIpMoved
  }
  /** Reserve a floating address in a location where the account has a server; it stays until it is released */
  'floating-ips.create': {
    path: { id: string }
    body: {
      locationId: string
      version?: 4 | 6
      name?: OneLineOfVisibleText0To64
    }
    result: FloatingIp
  }
  /** One floating address */
  'floating-ips.get': {
    path: { id: string }
    result: FloatingIp
  }
  /** Floating addresses, newest first, with the server that each points to */
  'floating-ips.list': {
    query?: { ownerId?: string; resellerId?: string; cursor?: string; limit?: number }
    result: FloatingIpPage
  }
  /** Release a floating address that points to no server: somebody else may get it then */
  'floating-ips.release': {
    path: { id: string }
    result: Done
  }
  /** Unassign a floating address; it then points to no server */
  'floating-ips.unassign': {
    path: { id: string }
    result: FloatingIpMoved
  }
  /** Rename a floating address */
  'floating-ips.update': {
    path: { id: string }
    body: {
      name: OneLineOfVisibleText1To64
    }
    result: FloatingIp
  }
  /** Add a container image for GPU instances; nodes fetch it at its first use */
  'gpu-images.create': {
    body: {
      name: OneLineOfVisibleText1To60
      /** More is not fetched. Compressed, in MiB. */
      mostMb: number
      /** It has Jupyter, which its instances are to start. */
      jupyter?: boolean
      /** In place of the image's own command; null or empty: that. */
      command?: (string)[] | null
      /** NAME=value each; an instance may set them otherwise. */
      environment?: (string)[]
      /** Beside those of SSH and Jupyter. */
      ports?: (number)[]
      /** Shown to those who order. */
      description?: OneLineOfVisibleText1To300 | null
      /** The picture beside its name. */
      icon?: "terminal" | "book" | "activity" | "image" | "globe" | "gpu" | "package" | null
      /** Instructions for what it runs, shown to owners. */
      docsUrl?: string | null
      /** The port that is the way in; null: Jupyter. */
      opensPort?: number | null
      /** Null takes the password away too. */
      registryUsername?: string | null
      registryPassword?: string
      reference: string
    }
    result: GpuImage
  }
  /** The images that GPU instances run, by name, without passwords */
  'gpu-images.list': {
    query?: { sort?: "name" | "-name" | "archived" | "-archived"; cursor?: string; limit?: number }
    result: GpuImagePage
  }
  /** Change an image of GPU instances, or archive it; instances take it over when they are made anew */
  'gpu-images.update': {
    path: { id: string }
    body: {
      name?: OneLineOfVisibleText1To60
      /** More is not fetched. Compressed, in MiB. */
      mostMb?: number
      /** It has Jupyter, which its instances are to start. */
      jupyter?: boolean
      /** In place of the image's own command; null or empty: that. */
      command?: (string)[] | null
      /** NAME=value each; an instance may set them otherwise. */
      environment?: (string)[]
      /** Beside those of SSH and Jupyter. */
      ports?: (number)[]
      /** Shown to those who order. */
      description?: OneLineOfVisibleText1To300 | null
      /** The picture beside its name. */
      icon?: "terminal" | "book" | "activity" | "image" | "globe" | "gpu" | "package" | null
      /** Instructions for what it runs, shown to owners. */
      docsUrl?: string | null
      /** The port that is the way in; null: Jupyter. */
      opensPort?: number | null
      /** Null takes the password away too. */
      registryUsername?: string | null
      registryPassword?: string
      archived?: boolean
    }
    result: GpuImage
  }
  /** Order a GPU instance */
  'gpu-instances.create': {
    query?: { dryRun?: "true" | "false" }
    body: {
      /** The customer. Null only with `dryRun=true`: as for a customer of yours who is still to be made. */
      ownerId: string | null
      offerId: string
      /** The location. */
      nodeGroupId: string
      /** An image of the offer; left out: the first one that is on sale. */
      imageId?: string | null
      name?: OneLineOfVisibleText1To64 | null
      /** Keys of the owner; left out: every key on the owner's account. */
      sshKeyIds?: (string)[] | null
      /** Ports of the container with an HTTP name; none: no names. Null: the ports of its image. */
      httpPorts?: (number)[] | null
      /** Variables as `NAME=value`; each replaces that of the image. */
      environment?: (string)[] | null
      billingServiceId?: OneLineOfVisibleText0To100 | null
    }
    result: InstanceOrdered
  }
  /** Order a GPU instance for yourself or one of your customers, of an offer that allows it */
  'gpu-instances.create-for-reseller': {
    query?: { dryRun?: "true" | "false" }
    body: {
      /** The customer. Null only with `dryRun=true`: as for a customer of yours who is still to be made. */
      ownerId: string | null
      offerId: string
      /** The location. */
      nodeGroupId: string
      /** An image of the offer; left out: the first one that is on sale. */
      imageId?: string | null
      name?: OneLineOfVisibleText1To64 | null
      /** Keys of the owner; left out: every key on the owner's account. */
      sshKeyIds?: (string)[] | null
      /** Ports of the container with an HTTP name; none: no names. Null: the ports of its image. */
      httpPorts?: (number)[] | null
      /** Variables as `NAME=value`; each replaces that of the image. */
      environment?: (string)[] | null
      billingServiceId?: OneLineOfVisibleText0To100 | null
    }
    result: InstanceOrdered
  }
  /** Delete a GPU instance and its /workspace; nothing brings it back */
  'gpu-instances.delete': {
    path: { id: string }
    result: InstanceJobStarted
  }
  /** Delete a GPU instance of yours and its /workspace; nothing brings it back */
  'gpu-instances.delete-own': {
    path: { id: string }
    result: InstanceJobStarted
  }
  /** The last lines of a GPU instance as a text file, as its program wrote them */
  'gpu-instances.download-logs': {
    path: { id: string }
    query?: { lines?: number }
    result: Response
  }
  /** One GPU instance */
  'gpu-instances.get': {
    path: { id: string }
    result: GpuInstance
  }
  /** After how long without use of its cards a GPU instance is stopped, and how long they have not been used */
  'gpu-instances.idle-stop': {
    path: { id: string }
    result: IdleStop
  }
  /** The GPU instances you see, newest first */
  'gpu-instances.list': {
    query?: { q?: string; status?: "creating" | "running" | "stopped" | "suspended" | "failed" | "deleting" | "deleted"; state?: "creating" | "running" | "stopped" | "suspended" | "failed" | "deleting" | "deleted" | "unreachable"; ownerId?: string; locationId?: string; offerId?: string; billingServiceId?: string; sort?: "name" | "-name" | "status" | "-status" | "location" | "-location" | "owner" | "-owner" | "createdAt" | "-createdAt"; cursor?: string; limit?: number }
    result: GpuInstancePage
  }
  /** Every GPU instance, newest first */
  'gpu-instances.list-all': {
    query?: { q?: string; status?: "creating" | "running" | "stopped" | "suspended" | "failed" | "deleting" | "deleted"; state?: "creating" | "running" | "stopped" | "suspended" | "failed" | "deleting" | "deleted" | "unreachable"; ownerId?: string; locationId?: string; offerId?: string; billingServiceId?: string; sort?: "name" | "-name" | "status" | "-status" | "location" | "-location" | "owner" | "-owner" | "createdAt" | "-createdAt"; nodeId?: string; resellerId?: string; cursor?: string; limit?: number }
    result: GpuInstancePage
  }
  /** The last lines that the program of a GPU instance wrote, read from its host now */
  'gpu-instances.logs': {
    path: { id: string }
    query?: { lines?: number; since?: string }
    result: InstanceLogs
  }
  /** The use of the cards of a GPU instance over time, in steps from 10 seconds to a day */
  'gpu-instances.metrics': {
    path: { id: string }
    query?: { range?: "1h" | "24h" | "7d" | "30d" | "1y"; from?: string; to?: string; resolution?: "10" | "60" | "300" | "600" | "1800" | "3600" | "7200" | "21600" | "86400" }
    result: InstanceMetrics
  }
  /** Offers of which you may order GPU instances, and where there is one now */
  'gpu-instances.offers': {
    query?: { cursor?: string; limit?: number }
    result: {
      data: (OrderableGpuOffer)[]
      nextCursor: string | null
      total: number
      /** GPUs that the account may have, and has; null: not limited. Of a reseller with its customers. */
      limit: {
        gpus: number | null
        used: number
      }
      /** Why nothing can be ordered now, in words; null: orders are taken. */
      notOrderable: string | null
    }
  }
  /** Order a GPU instance for yourself, of an offer that allows it and within your GPU limit */
  'gpu-instances.order': {
    query?: { dryRun?: "true" | "false" }
    body: {
      offerId: string
      /** The location. */
      nodeGroupId: string
      /** An image of the offer; left out: the first one that is on sale. */
      imageId?: string | null
      name?: OneLineOfVisibleText1To64 | null
      /** Keys of the owner; left out: every key on the owner's account. */
      sshKeyIds?: (string)[] | null
      /** Ports of the container with an HTTP name; none: no names. Null: the ports of its image. */
      httpPorts?: (number)[] | null
      /** Variables as `NAME=value`; each replaces that of the image. */
      environment?: (string)[] | null
    }
    result: InstanceOrdered
  }
  /** What an action would do to many GPU instances, and why not to some of them */
  'gpu-instances.plan-many': {
    query?: { q?: string; status?: "creating" | "running" | "stopped" | "suspended" | "failed" | "deleting" | "deleted"; state?: "creating" | "running" | "stopped" | "suspended" | "failed" | "deleting" | "deleted" | "unreachable"; ownerId?: string; locationId?: string; offerId?: string; billingServiceId?: string; nodeId?: string; resellerId?: string; do?: "start" | "stop" | "restart" | "suspend" | "unsuspend"; ids?: string }
    result: BulkAction
  }
  /** Start, stop or restart a GPU instance; a stopped one keeps its cards, ports and address */
  'gpu-instances.power': {
    path: { id: string }
    body: {
      action: "start" | "stop" | "restart"
    }
    result: InstanceJobStarted
  }
  /** Start, stop or restart many GPU instances, a few at a time on each node */
  'gpu-instances.power-many': {
    query?: { dryRun?: "true" | "false" }
    body: {
      /** These GPU instances. */
      ids?: (string)[] | null
      filter?: GpuInstanceFilter | null
      /** So many were shown to whoever chose them; with another number nothing is done. */
      expected?: number | null
      action: "start" | "stop" | "restart"
    }
    result: BulkAction
  }
  /** Make a GPU instance anew from an image and start it: /workspace stays, everything else in it is lost */
  'gpu-instances.rebuild': {
    path: { id: string }
    body: {
      /** An image of its offer that is on sale, also its present one. */
      imageId: string
    }
    result: InstanceJobStarted
  }
  /** Rename a GPU instance */
  'gpu-instances.rename': {
    path: { id: string }
    body: {
      name: OneLineOfVisibleText1To64
    }
    result: InstanceChanged
  }
  /** Choose what happens when a GPU instance ends by itself: it is started again always, after a crash, or never; in force from its next start */
  'gpu-instances.restart-policy': {
    path: { id: string }
    body: {
      restartPolicy: "always" | "on_failure" | "never"
    }
    result: InstanceChanged
  }
  /** Set the billing system's own identifier of a GPU instance; null removes it */
  'gpu-instances.set-billing-service': {
    path: { id: string }
    body: {
      billingServiceId: OneLineOfVisibleText0To100 | null
    }
    result: GpuInstance
  }
  /** Set environment variables and command of a GPU instance; the next start or restart makes its container anew with them, and keeps of its files those in /workspace */
  'gpu-instances.set-environment': {
    path: { id: string }
    body: {
      /** All of them; each replaces the variable of this name that the image sets. */
      environment: (string)[]
      /** The program and its arguments; null or empty: the command of the image. */
      command: (string)[] | null
    }
    result: InstanceChanged
  }
  /** Choose which ports of a GPU instance have an HTTP name of their own; in force within seconds */
  'gpu-instances.set-http-ports': {
    path: { id: string }
    body: {
      /** Ports of the container with an HTTP name; none: no names. Null: the ports of its image. */
      httpPorts: (number)[] | null
    }
    result: InstanceChanged
  }
  /** Have a GPU instance stopped when its cards were not used for some time; null: never */
  'gpu-instances.set-idle-stop': {
    path: { id: string }
    body: {
      /** Minutes without use of its cards. */
      minutes: number | null
    }
    result: IdleStop
  }
  /** Choose the SSH keys that root login of a GPU instance accepts; it happens at once, without a restart */
  'gpu-instances.set-ssh-keys': {
    path: { id: string }
    body: {
      /** Keys of the owner, all that shall log in; none: nobody. */
      sshKeyIds: (string)[]
    }
    result: InstanceJobStarted
  }
  /** Suspend a GPU instance: it is stopped and its owner kept out until it is unsuspended; it keeps its cards */
  'gpu-instances.suspend': {
    path: { id: string }
    body: {
      reason: OneLineOfVisibleText1To500
    }
    result: InstanceJobStarted
  }
  /** Suspend many GPU instances */
  'gpu-instances.suspend-many': {
    query?: { dryRun?: "true" | "false" }
    body: {
      /** These GPU instances. */
      ids?: (string)[] | null
      filter?: GpuInstanceFilter | null
      /** So many were shown to whoever chose them; with another number nothing is done. */
      expected?: number | null
      reason: OneLineOfVisibleText1To500
    }
    result: BulkAction
  }
  /** What happened to a GPU instance: changes, jobs and unexpected ends in one order, newest first */
  'gpu-instances.timeline': {
    path: { id: string }
    query?: { kind?: "change" | "job" | "alert" | "crash"; since?: string; until?: string; cursor?: string; limit?: number }
    result: TimelineEntryPage
  }
  /** Unsuspend a GPU instance: it runs again if it ran before */
  'gpu-instances.unsuspend': {
    path: { id: string }
    result: InstanceJobStarted
  }
  /** Unsuspend many GPU instances, a few at a time on each node */
  'gpu-instances.unsuspend-many': {
    query?: { dryRun?: "true" | "false" }
    body: {
      /** These GPU instances. */
      ids?: (string)[] | null
      filter?: GpuInstanceFilter | null
      /** So many were shown to whoever chose them; with another number nothing is done. */
      expected?: number | null
    }
    result: BulkAction
  }
  /** How long a GPU instance was held in a period, and ran, was stopped or suspended, with every spell */
  'gpu-instances.usage': {
    path: { id: string }
    query?: { from?: string; to?: string }
    result: GpuUsage
  }
  /** Add an offer that GPU instances can be ordered with */
  'gpu-offers.create': {
    body: {
      name: OneLineOfVisibleText1To60
      /** As the nodes report it. */
      model: string
      cards: number
      vcpus: number
      memoryMb: number
      workspaceGb: number
      ownIpv4?: boolean
      /** That of SSH among them; 5 if not given. */
      ports?: number
      selfService?: boolean
      price?: string | null
      currency?: string | null
      pricePer?: "hour" | "month"
      billingProductId?: OneLineOfVisibleText0To100 | null
      /** In their order: the first that is not archived runs where an order names none. */
      imageIds: (string)[]
    }
    result: GpuOffer
  }
  /** Offers of GPU instances, with what is free of each in every location now */
  'gpu-offers.list': {
    query?: { sort?: "name" | "-name" | "cards" | "-cards" | "archived" | "-archived"; cursor?: string; limit?: number }
    result: {
      data: (GpuOffer)[]
      nextCursor: string | null
      total: number
      /** The models of cards that nodes report. */
      models: ({
        model: string
        memoryMb: number
      })[]
    }
  }
  /** Change an offer of GPU instances, or archive it; instances keep what they were ordered with */
  'gpu-offers.update': {
    path: { id: string }
    body: {
      name?: OneLineOfVisibleText1To60
      /** As the nodes report it. */
      model?: string
      cards?: number
      vcpus?: number
      memoryMb?: number
      workspaceGb?: number
      ownIpv4?: boolean
      /** That of SSH among them; 5 if not given. */
      ports?: number
      selfService?: boolean
      price?: string | null
      currency?: string | null
      pricePer?: "hour" | "month"
      billingProductId?: OneLineOfVisibleText0To100 | null
      /** In their order: the first that is not archived runs where an order names none. */
      imageIds?: (string)[]
      archived?: boolean
    }
    result: GpuOffer
  }
  /** Take a card that nobody has out of sale, clear its memory and test it; it is sold again when it passes */
  'gpus.check': {
    path: { id: string }
    result: GpuCheckStarted
  }
  /** Forget a card that was taken out of its node */
  'gpus.forget-card': {
    path: { id: string }
    result: Done
  }
  /** The GPU container hosts by name, with their cards and the instances that hold them */
  'gpus.list': {
    query?: { nodeId?: string; cursor?: string; limit?: number }
    result: GpuHostPage
  }
  /** Close a card, so that it is not sold, or open it again; an instance that holds it keeps it */
  'gpus.update-card': {
    path: { id: string }
    body: {
      open: boolean
    }
    result: GpuCard
  }
  /** Close a GPU host for new instances, or set the address and the ports that lead to its instances */
  'gpus.update-host': {
    path: { id: string }
    body: {
      /** It takes new instances. */
      open?: boolean
      /** IPv4. Null: the address that the node names. */
      publicAddress?: string | null
      /** Instances keep the ports that they have. */
      firstPort?: number
      lastPort?: number
      /** A domain whose every name leads to the host, such as gpu1.example.com; null: no names. */
      httpDomain?: string | null
    }
    result: GpuHost
  }
  /** The host of the controller: CPU, memory, the disk holding the database, uptime, version */
  'host.get': {
    result: {
      checkedAt: string
      cpus: number
      cpuPercent: number
      load1: number
      load5: number
      load15: number
      memory: {
        totalBytes: number
        usedBytes: number
        availableBytes: number
        percent: number
      }
      swap: {
        totalBytes: number
        usedBytes: number
      }
      disk: {
        path: string
        totalBytes: number
        usedBytes: number
        percent: number
      }
      databaseBytes: number
      hostUptimeSeconds: number
      version: string
      startedAt: string
      uptimeSeconds: number
      processMemoryBytes: number
    }
  }
  /** Begin to link the identity provider to the own account; answers a cookie, and the address to go to */
  'identities.begin-link': {
    result: {
      url: string
    }
  }
  /** Link the own account to the person that the identity provider sent the browser back with */
  'identities.link': {
    body: {
      code: string
      state: string
      iss?: string
    }
    result: Done
  }
  /** The identity providers through which the own account has signed in */
  'identities.list': {
    query?: { cursor?: string; limit?: number }
    result: {
      data: ({
        id: string
        issuer: string
        subject: string
        createdAt: string
        usedAt: string
      })[]
      /** Null on the last page. */
      nextCursor: string | null
      /** Of all pages together. */
      total: number
    }
  }
  /** Unlink an identity provider from the own account; every other session ends */
  'identities.remove': {
    path: { id: string }
    result: Done
  }
  /** Add an official image from the catalogue; its checksum is read from the list of its distribution, and the signature of the list is verified where the distribution signs it */
  'images.add': {
    body: {
      catalogueId: "debian-13" | "debian-12" | "debian-11" | "ubuntu-26.04" | "ubuntu-24.04" | "ubuntu-22.04" | "almalinux-10" | "almalinux-9" | "almalinux-8" | "rocky-10" | "rocky-9" | "rocky-8" | "centos-stream-10" | "centos-stream-9" | "fedora-44" | "fedora-43" | "opensuse-leap-16.0" | "opensuse-leap-15.6" | "alpine-3.24" | "alpine-3.23" | "arch"
      published?: boolean
    }
    result: Image
  }
  /** The builds that an image has had, newest first, and how many servers run on a disk made of each */
  'images.builds': {
    path: { id: string }
    result: ImageBuilds
  }
  /** Import a disk image from the incoming directory of the controller */
  'images.import': {
    body: {
      file: string
      name: OneLineOfVisibleText1To80
      format?: "qcow2" | "raw"
      minDiskGb?: number
      published?: boolean
      /** windows: prepared with cloudbase-init. It gets its data as a config drive, and the user Administrator. */
      os?: "linux" | "windows"
      /** uefi_secure: UEFI with Secure Boot and the keys of Microsoft. */
      firmware?: "bios" | "uefi" | "uefi_secure"
      /** q35 is the newer one. */
      machine?: "q35" | "pc"
      /** The version of cloud-init network-config that its system gets. v1 is for most systems. v2 is for netplan with cloud-init before 23.1, such as Debian 12, which loses gateways outside the network of an address in v1. Windows ignores it. */
      networkConfig?: "v1" | "v2"
      /** It has a TPM 2.0. */
      tpm?: boolean
    }
    result: Image
  }
  /** Images, newest first, and what else the catalogue offers */
  'images.list': {
    query?: { cursor?: string; limit?: number }
    result: {
      data: (Image)[]
      /** Null on the last page. */
      nextCursor: string | null
      /** Of all pages together. */
      total: number
      catalogue: ({
        id: string
        name: string
        added: boolean
      })[]
    }
  }
  /** The images that a server can be set up with, newest first */
  'images.offered': {
    query?: { cursor?: string; limit?: number }
    result: OfferedImagePage
  }
  /** Ask the distribution of an image for its current build, which Berth also does every six hours and when a node finds that the file has changed; the image keeps its id */
  'images.refresh': {
    path: { id: string }
    result: Image
  }
  /** Remove an image; servers made from it keep running */
  'images.remove': {
    path: { id: string }
    result: Done
  }
  /** Rename an image, publish it or not, make it the default of orders or the rescue image, change its minimum disk or the machine that it needs; servers keep the one on which they were installed */
  'images.update': {
    path: { id: string }
    body: {
      name?: OneLineOfVisibleText1To80
      published?: boolean
      isDefault?: boolean
      isRescue?: boolean
      /** windows: prepared with cloudbase-init. It gets its data as a config drive, and the user Administrator. */
      os?: "linux" | "windows"
      /** uefi_secure: UEFI with Secure Boot and the keys of Microsoft. */
      firmware?: "bios" | "uefi" | "uefi_secure"
      /** q35 is the newer one. */
      machine?: "q35" | "pc"
      /** The version of cloud-init network-config that its system gets. v1 is for most systems. v2 is for netplan with cloud-init before 23.1, such as Debian 12, which loses gateways outside the network of an address in v1. Windows ignores it. */
      networkConfig?: "v1" | "v2"
      /** It has a TPM 2.0. */
      tpm?: boolean
      minDiskGb?: number
    }
    result: Image
  }
  /** Mark a server as fine although a check is open, such as one that blocks pings */
  'import-servers.accept': {
    path: { id: string }
    result: ImportVerified
  }
  /** Take a server back before it has moved: it runs at its source as before */
  'import-servers.cancel': {
    path: { id: string }
    result: ImportMove
  }
  /** Check a server again, after its system was told its new addresses where that is still to be done */
  'import-servers.check': {
    path: { id: string }
    result: ImportVerified
  }
  /** The move of one server: how far it is, where it runs, and why its last attempt failed */
  'import-servers.move': {
    path: { id: string }
    result: ImportServerMove
  }
  /** Try a server again that failed or was rolled back: a new job, from the beginning */
  'import-servers.retry': {
    path: { id: string }
    body: {
      /** The node that takes a copy. Null: by the rule. */
      nodeId?: string | null
      /** plain: its disk is copied while it is off. */
      method?: "short_stop" | "plain"
    }
    result: ImportMove
  }
  /** Roll a server back: what it wrote since it moved is lost, and the original starts at its source */
  'import-servers.roll-back': {
    path: { id: string }
    body: {
      /** Its name, as it is shown. */
      hostname: string
    }
    result: ImportRollingBack
  }
  /** What rolling a server back costs: nothing is changed */
  'import-servers.roll-back-preview': {
    path: { id: string }
    result: ImportRollBack
  }
  /** Whether the copying nodes can log in to each hypervisor, and the command that lets them in */
  'imports.access': {
    path: { id: string }
    query?: { cursor?: string; limit?: number }
    result: ImportAccessPage
  }
  /** Add the keys of all copying nodes on a hypervisor: one of them signs in there once with the root password */
  'imports.add-keys': {
    path: { id: string }
    body: {
      /** Of a hypervisor from which servers are copied: its id in the other panel. */
      hypervisorId: string
      /** Of root on that hypervisor. It is used for this one sign-in and stored nowhere. */
      password: string
    }
    result: ImportKeysAdded
  }
  /** Mail the message “before” to the owners of servers that are ready to come; nobody gets it twice */
  'imports.announce': {
    path: { id: string }
    query?: { dryRun?: "true" | "false" }
    result: ImportMessagesSent
  }
  /** Decide about many hypervisors by a rule, such as all but the one that is moved now */
  'imports.apply-to-hypervisors': {
    path: { id: string }
    query?: { dryRun?: "true" | "false" }
    body: {
      where: {
        /** Nothing is decided about them. */
        isUndecided?: boolean
        /** Nobody has decided about them. */
        isProposed?: boolean
        sourceIds?: (string)[]
        /** All but these, by their ids there. */
        exceptIds?: (string)[]
      }
      choice: "copy" | "adopt" | "leave_out" | null
      locationId?: string
    }
    result: ImportRuleResult
  }
  /** Decide about many owners by a rule; a dry run tells what it would do */
  'imports.apply-to-owners': {
    path: { id: string }
    query?: { dryRun?: "true" | "false" }
    body: {
      where: {
        conflict?: "none" | "customer" | "reseller" | "staff" | "twice" | "external_id" | "unknown"
        /** Nothing is decided about them. */
        isUndecided?: boolean
        /** Nobody has decided about them. */
        isProposed?: boolean
        sourceIds?: (string)[]
        /** The account here has the same name or company. */
        hasSameName?: boolean
        /** The account here is locked. */
        isLocked?: boolean
        /** None of their servers can come. */
        hasNoServers?: boolean
      }
      choice: "create" | "merge" | "separate" | "client_area" | "existing" | "one_account" | "leave_out" | null
      resellerId?: string | null
    }
    result: ImportRuleResult
  }
  /** Decide about many packages by a rule; a dry run tells what it would do */
  'imports.apply-to-packages': {
    path: { id: string }
    query?: { dryRun?: "true" | "false" }
    body: {
      where: {
        /** Nothing is decided about them. */
        isUndecided?: boolean
        /** Nobody has decided about them. */
        isProposed?: boolean
        sourceIds?: (string)[]
      }
      choice: "own" | "like" | "leave_out" | null
      packageId?: string
    }
    result: ImportRuleResult
  }
  /** Decide about many ranges by a rule; a dry run tells what it would do */
  'imports.apply-to-ranges': {
    path: { id: string }
    query?: { dryRun?: "true" | "false" }
    body: {
      where: {
        /** Nothing is decided about them. */
        isUndecided?: boolean
        /** Nobody has decided about them. */
        isProposed?: boolean
        sourceIds?: (string)[]
        version?: 4 | 6
      }
      choice: "keep" | "new" | "pool" | "leave_out" | null
    }
    result: ImportRuleResult
  }
  /** Delete an import in which nothing has moved, with its credentials and all that was read */
  'imports.cancel': {
    path: { id: string }
    result: Import
  }
  /** Change the limits of an import; what is not sent stays, and copies at work follow their limit at once */
  'imports.change-limits': {
    path: { id: string }
    body: {
      /** Servers that leave one hypervisor at once. Usually 2. */
      perHypervisor?: number
      /** Servers that come to one node at once. Usually 2. */
      perNode?: number
      /** Of each copy. Null: as fast as it goes. */
      maxMbps?: number | null
      /** Servers begin within these hours alone. Null: at any time. */
      window?: {
        from: string
        to: string
        timeZone: string
      } | null
      /** short_stop: copied while it runs, and what has changed once it is off. plain: copied while it is off. */
      method?: "short_stop" | "plain"
    }
    result: Import
  }
  /** Decide: what is not sent stays as it is. Hypervisors are decided first, then packages, ranges and owners */
  'imports.change-mapping': {
    path: { id: string }
    body: {
      hypervisors?: ({
        /** The id in the other panel; `unknown` for everything that it does not name. */
        sourceId: string
        /** Null: nothing is decided any more. */
        choice: "copy" | "adopt" | "leave_out" | null
        /** For copy. */
        locationId?: string
      })[]
      packages?: ({
        /** The id in the other panel; `unknown` for everything that it does not name. */
        sourceId: string
        /** Null: nothing is decided any more. */
        choice: "own" | "like" | "leave_out" | null
        /** For own. */
        packageId?: string
        /** For like: what differs from the package there. */
        changes?: {
          name?: OneLineOfVisibleText1To64
          vcpus?: number
          memoryMb?: number
          diskGb?: number
          trafficGb?: number | null
          portMbps?: number | null
          billingProductId?: OneLineOfVisibleText1To100 | null
          isOnSale?: boolean
        }
      })[]
      ranges?: ({
        /** The id in the other panel; `unknown` for everything that it does not name. */
        sourceId: string
        /** Null: nothing is decided any more. */
        choice: "keep" | "new" | "pool" | "leave_out" | null
      })[]
      owners?: ({
        /** The id in the other panel; `unknown` for everything that it does not name. */
        sourceId: string
        /** Null: nothing is decided any more. */
        choice: "create" | "merge" | "separate" | "client_area" | "existing" | "one_account" | "leave_out" | null
        /** For existing: the customer or reseller who gets the servers. */
        accountId?: string
        /** The reseller whose customer a new account becomes. */
        resellerId?: string | null
      })[]
      /** Servers alone that are left out, or not any more. */
      servers?: ({
        id: string
        isLeftOut?: boolean
        /** False: it comes without its billing id. */
        hasBillingId?: boolean
      })[]
      billing?: {
        /** Of an owner: becomes the external id of the customer. */
        externalId?: "none" | "billing_id" | "source_id"
        /** Of a server. */
        billingServiceId?: "none" | "billing_id" | "source_id"
        /** Of a package that is made like one of the other panel. */
        billingProductId?: "none" | "billing_id" | "source_id"
      }
    }
    result: ImportMapping
  }
  /** What the last reading found new, gone or changed since the one before */
  'imports.changes': {
    path: { id: string }
    query?: { change?: "new" | "gone" | "changed"; cursor?: string; limit?: number }
    result: ImportChangePage
  }
  /** Let every copying node try to log in to a hypervisor, where nothing changes; the list of access says more */
  'imports.check-access': {
    path: { id: string }
    body: {
      /** Of a hypervisor from which servers are copied: its id in the other panel. */
      hypervisorId: string
      /** Its SSH server shows another key than before, and you know why: the one that it has now is accepted. */
      acceptHostKey?: boolean
    }
    result: ImportAccess
  }
  /** Check every server with an open check again */
  'imports.check-all': {
    path: { id: string }
    result: ImportChecksAsked
  }
  /** Try again now to remove from source hypervisors what could not be removed */
  'imports.clean-up': {
    path: { id: string }
    result: ImportCleanUps
  }
  /** What a finished import removes from source hypervisors: kept definitions, and the keys of nodes */
  'imports.clean-ups': {
    path: { id: string }
    result: ImportCleanUps
  }
  /** Go on after a pause or a stop: the servers that have not begun follow */
  'imports.continue': {
    path: { id: string }
    result: Import
  }
  /** Begin an import from another panel: nothing is sent there before discover */
  'imports.create': {
    body: {
      kind: "solusvm2" | "virtualizor" | "demo"
      /** Of the panel itself, with its port: not of a hypervisor. Private addresses are fine, link-local ones are refused. */
      address: string
      /** What the panel asks for, by name: `panels` of this API lists the fields. Stored encrypted, and deleted when the import is finished or deleted. */
      credentials: Record<string, string>
      /** Shown in the list and in the audit log. */
      name?: OneLineOfVisibleText1To80 | null
    }
    result: Import
  }
  /** Read the other panel, where nothing changes; once more resets what was decided. Follow it by the import */
  'imports.discover': {
    path: { id: string }
    result: Import
  }
  /** Check every server from the node that would do the work: nothing changes anywhere, and what is decided stays */
  'imports.dry-run': {
    path: { id: string }
    result: Import
  }
  /** The result of the dry run for each server as a spreadsheet, with the filters of the list of servers */
  'imports.export-dry-run': {
    path: { id: string }
    query?: { hypervisorId?: string; packageId?: string; ownerId?: string; rangeId?: string; refusal?: string; undecided?: "true"; conflict?: "true"; result?: "ready" | "remark" | "to_fix" | "stays"; finding?: "uefi" | "other_machine" | "disks" | "disk_format" | "bad_domain" | "snapshots_adopted" | "backing_file_adopted" | "undecided" | "address_conflict" | "claim_conflict" | "domain_twice" | "no_login" | "host_key_changed" | "hypervisor_unreachable" | "ssh_too_old" | "libvirt_silent" | "look_failed" | "node_away" | "agent_outdated" | "not_running" | "paused" | "no_such_domain" | "disk_unreadable" | "disk_too_large" | "no_room" | "no_addresses" | "stopped" | "suspended" | "in_rescue" | "backing_file" | "no_mac" | "more_cards" | "other_mac" | "other_cpu" | "other_bus" | "no_such_device" | "host_devices" | "snapshots" | "maybe_windows" | "no_guest_agent"; nodeId?: string; awayOver?: number; q?: string }
    result: Response
  }
  /** What is decided as a spreadsheet: edit choice and target, and upload it again */
  'imports.export-mapping': {
    path: { id: string }
    query?: { part?: "packages" | "ranges" | "hypervisors" | "owners" }
    result: Response
  }
  /** The report for the billing system as a spreadsheet */
  'imports.export-report': {
    path: { id: string }
    query?: { outcome?: "moved" | "failed" | "stays" | "rolled_back" | "open" }
    result: Response
  }
  /** Finish an import: its credentials are deleted, and no server can be rolled back any more */
  'imports.finish': {
    path: { id: string }
    body: {
      /** True: what this ends was read. */
      confirm: true
    }
    result: Import
  }
  /** What finishing an import ends and deletes: nothing is changed */
  'imports.finish-preview': {
    path: { id: string }
    result: ImportFinish
  }
  /** Which hypervisor is moved next, and which must keep the software of the other panel, and why */
  'imports.fleet': {
    path: { id: string }
    result: ImportFleet
  }
  /** One import: how far it is, and what is left to decide */
  'imports.get': {
    path: { id: string }
    result: Import
  }
  /** What the last dry run found; the servers of an import have the result of each */
  'imports.get-dry-run': {
    path: { id: string }
    result: ImportDryRun
  }
  /** The hypervisors of the other panel, and where the servers of each go */
  'imports.hypervisors': {
    path: { id: string }
    query?: { undecided?: "true"; proposed?: "true"; q?: string; cursor?: string; limit?: number }
    result: ImportHypervisorPage
  }
  /** Mail the owners whose accounts this import has made a link to choose a password; nobody gets it twice */
  'imports.invite-owners': {
    path: { id: string }
    query?: { dryRun?: "true" | "false" }
    result: ImportMessagesSent
  }
  /** Leave out single servers, or take them in again; those that a filter selects */
  'imports.leave-out': {
    path: { id: string }
    query?: { dryRun?: "true" | "false" }
    body: {
      where: {
        state?: "waiting" | "left_out" | "refused" | "ready" | "moving" | "moved" | "failed" | "rolled_back" | "already_moved"
        hypervisorId?: string
        packageId?: string
        ownerId?: string
        rangeId?: string
        /** They wait for a decision. */
        undecided?: boolean
        /** Something here or there stands against them. */
        conflict?: boolean
        q?: string
      }
      isLeftOut: boolean
    }
    result: ImportLeftOut
  }
  /** Imports from other panels, newest first */
  'imports.list': {
    query?: { status?: "draft" | "discovering" | "mapping" | "checking" | "ready" | "migrating" | "verifying" | "finished"; kind?: "solusvm2" | "virtualizor" | "demo"; q?: string; cursor?: string; limit?: number }
    result: ImportPage
  }
  /** The servers of an import that move: how far each is, and where it runs */
  'imports.list-moves': {
    path: { id: string }
    query?: { state?: "waiting" | "moving" | "moved" | "failed" | "rolling_back" | "rolled_back"; hypervisorId?: string; nodeId?: string; failure?: string; whereItRuns?: "source" | "here" | "nowhere" | "unknown"; result?: "passed" | "accepted" | "open" | "waiting"; q?: string; cursor?: string; limit?: number }
    result: ImportMovePage
  }
  /** An import's log lines; ask again with the last number */
  'imports.log': {
    path: { id: string }
    query?: { after?: number }
    result: ImportLog
  }
  /** What is decided, part by part, and what is left; the rows of each part have lists of their own */
  'imports.mapping': {
    path: { id: string }
    result: ImportMapping
  }
  /** What the owners of servers are told before, during and after the move, and how it would look */
  'imports.messages': {
    path: { id: string }
    result: ImportMessages
  }
  /** The owners of the other panel, and who gets the servers of each */
  'imports.owners': {
    path: { id: string }
    query?: { conflict?: "none" | "customer" | "reseller" | "staff" | "twice" | "external_id" | "unknown"; choice?: "create" | "merge" | "separate" | "client_area" | "existing" | "one_account" | "leave_out"; undecided?: "true"; proposed?: "true"; lapsed?: "true"; q?: string; cursor?: string; limit?: number }
    result: ImportOwnerPage
  }
  /** The packages of the other panel, and which own package each becomes */
  'imports.packages': {
    path: { id: string }
    query?: { undecided?: "true"; proposed?: "true"; q?: string; cursor?: string; limit?: number }
    result: ImportPackagePage
  }
  /** The panels that can be imported from, with the credentials that each asks for */
  'imports.panels': {
    result: ImportPanels
  }
  /** Begin no further server; those at work come to their end */
  'imports.pause': {
    path: { id: string }
    result: Import
  }
  /** What the import would do as things are decided now */
  'imports.plan': {
    path: { id: string }
    result: ImportPlan
  }
  /** How far an import is: servers, bytes, downtimes, and the time that is left */
  'imports.progress': {
    path: { id: string }
    result: ImportProgress
  }
  /** The ranges of addresses of the other panel, and what happens to each */
  'imports.ranges': {
    path: { id: string }
    query?: { undecided?: "true"; proposed?: "true"; q?: string; cursor?: string; limit?: number }
    result: ImportRangePage
  }
  /** For the billing system: the old and the new id of each server, its product and owner, and the next steps */
  'imports.report': {
    path: { id: string }
    query?: { outcome?: "moved" | "failed" | "stays" | "rolled_back" | "open"; cursor?: string; limit?: number }
    result: ImportReportRowPage
  }
  /** A PHP script that switches the services of moved servers in Blesta to Berth */
  'imports.script-blesta': {
    path: { id: string }
    result: Response
  }
  /** A PHP script that switches the services of moved servers in FOSSBilling to Berth */
  'imports.script-fossbilling': {
    path: { id: string }
    result: Response
  }
  /** A PHP script that switches the services of moved servers in Paymenter to Berth */
  'imports.script-paymenter': {
    path: { id: string }
    result: Response
  }
  /** A PHP script that switches the services of moved servers in WHMCS to Berth */
  'imports.script-whmcs': {
    path: { id: string }
    result: Response
  }
  /** One server of an import: what it becomes, or why it stays */
  'imports.server': {
    path: { id: string }
    result: ImportServer
  }
  /** The servers of an import: what each becomes, or why it stays */
  'imports.servers': {
    path: { id: string }
    query?: { state?: "waiting" | "left_out" | "refused" | "ready" | "moving" | "moved" | "failed" | "rolled_back" | "already_moved"; hypervisorId?: string; packageId?: string; ownerId?: string; rangeId?: string; refusal?: string; undecided?: "true"; conflict?: "true"; result?: "ready" | "remark" | "to_fix" | "stays"; finding?: "uefi" | "other_machine" | "disks" | "disk_format" | "bad_domain" | "snapshots_adopted" | "backing_file_adopted" | "undecided" | "address_conflict" | "claim_conflict" | "domain_twice" | "no_login" | "host_key_changed" | "hypervisor_unreachable" | "ssh_too_old" | "libvirt_silent" | "look_failed" | "node_away" | "agent_outdated" | "not_running" | "paused" | "no_such_domain" | "disk_unreadable" | "disk_too_large" | "no_room" | "no_addresses" | "stopped" | "suspended" | "in_rescue" | "backing_file" | "no_mac" | "more_cards" | "other_mac" | "other_cpu" | "other_bus" | "no_such_device" | "host_devices" | "snapshots" | "maybe_windows" | "no_guest_agent"; nodeId?: string; awayOver?: number; q?: string; sort?: "hostname" | "-hostname" | "disk" | "-disk" | "state" | "-state"; cursor?: string; limit?: number }
    result: ImportServerPage
  }
  /** Give other credentials for the panel, such as a new token; the old ones are erased */
  'imports.set-credentials': {
    path: { id: string }
    body: {
      /** What the panel asks for, by name: `panels` of this API lists the fields. Stored encrypted, and deleted when the import is finished or deleted. */
      credentials: Record<string, string>
    }
    result: Import
  }
  /** Change what owners are told, and whether they are told at all */
  'imports.set-messages': {
    path: { id: string }
    body: {
      /** Owners are told by mail. Off: nobody is. */
      emailsOwners?: boolean
      before?: {
        isOn?: boolean
        subject?: OneLineOfVisibleText1To150
        text?: string
      }
      during?: {
        isOn?: boolean
        subject?: OneLineOfVisibleText1To150
        text?: string
      }
      after?: {
        isOn?: boolean
        subject?: OneLineOfVisibleText1To150
        text?: string
      }
    }
    result: ImportMessages
  }
  /** Move the servers that are ready: each is stopped at its source once, and started here */
  'imports.start': {
    path: { id: string }
    body: {
      /** Servers that leave one hypervisor at once. Usually 2. */
      perHypervisor?: number
      /** Servers that come to one node at once. Usually 2. */
      perNode?: number
      /** Of each copy. Null: as fast as it goes. */
      maxMbps?: number | null
      /** Servers begin within these hours alone. Null: at any time. */
      window?: {
        from: string
        to: string
        timeZone: string
      } | null
      /** short_stop: copied while it runs, and what has changed once it is off. plain: copied while it is off. */
      method?: "short_stop" | "plain"
      /** Owners are told by mail, as the messages of the import say. Usually as it is set there. */
      emailsOwners?: boolean
    }
    result: Import
  }
  /** End after the servers at work: those that have not begun stay on the source */
  'imports.stop-after': {
    path: { id: string }
    result: Import
  }
  /** Mail yourself one of the messages, as the first owner would get it; nobody else gets it, nothing is noted */
  'imports.test-message': {
    path: { id: string }
    body: {
      kind: "before" | "during" | "after"
    }
    result: ImportMessageTested
  }
  /** Trust the certificate that the panel showed: compare its fingerprint there first */
  'imports.trust': {
    path: { id: string }
    body: {
      /** The fingerprint that was compared: it has to be the one that is asked for. */
      sha256: string
    }
    result: Import
  }
  /** Rename an import, at any time, even after it has ended; null clears the name */
  'imports.update': {
    path: { id: string }
    body: {
      /** Shown in the list and in the audit log. */
      name?: OneLineOfVisibleText1To80 | null
    }
    result: Import
  }
  /** Decide by a spreadsheet that was downloaded and edited; a dry run tells the difference */
  'imports.upload-mapping': {
    path: { id: string }
    query?: { dryRun?: "true" | "false" }
    body: {
      csv: string
    }
    result: ImportUpload
  }
  /** How many servers that have moved pass their checks */
  'imports.verification': {
    path: { id: string }
    result: ImportVerification
  }
  /** The servers that have moved, with their checks */
  'imports.verified': {
    path: { id: string }
    query?: { result?: "passed" | "accepted" | "open" | "waiting"; nodeId?: string; q?: string; cursor?: string; limit?: number }
    result: ImportVerifiedPage
  }
  /** Add an ISO by its address and checksum: your own, or as staff one for all; nodes download it at its first use */
  'isos.add': {
    body: {
      name: OneLineOfVisibleText1To80
      url: string
      checksum: string
    }
    result: Iso
  }
  /** ISOs that can be put into servers, newest first: the library of the provider, and your own */
  'isos.list': {
    query?: { cursor?: string; limit?: number }
    result: IsoPage
  }
  /** Remove an ISO that is in no server; nodes delete their copies */
  'isos.remove': {
    path: { id: string }
    result: Done
  }
  /** Cancel a job: it stops before its next step, what it did is undone, and it ends as failed */
  'jobs.cancel': {
    path: { jobId: string }
    body: {
      reason?: OneLineOfVisibleText0To200
    }
    result: Job
  }
  /** One job; follow it until its state is succeeded or failed */
  'jobs.get': {
    path: { jobId: string }
    result: JobDetails
  }
  /** Jobs, newest first */
  'jobs.list': {
    query?: { q?: string; state?: "running" | "done" | "failed"; serverId?: string; instanceId?: string; nodeId?: string; kind?: string; sort?: "title" | "-title" | "state" | "-state" | "startedBy" | "-startedBy" | "createdAt" | "-createdAt"; cursor?: string; limit?: number }
    result: JobPage
  }
  /** A job's log lines; ask again with the last number. The node's commands and errors are for staff */
  'jobs.log': {
    path: { jobId: string }
    query?: { after?: number }
    result: {
      lines: ({
        n: number
        at: string
        level: string
        text: string
      })[]
      state: "queued" | "running" | "succeeded" | "failed"
    }
  }
  /** To which other locations the servers of this one may move, by staff or by their owners */
  'locations.allow-moves': {
    path: { id: string }
    body: {
      /** In place of those that were allowed: servers get new addresses there. The way back is allowed at the other location. */
      locationIds: (string)[]
      /** Those of them that owners of servers may choose themselves; the others are for staff alone. Without it those stay offered that were. */
      offeredIds?: (string)[]
    }
    result: Location
  }
  /** Add a location: a group of nodes with a placement rule */
  'locations.create': {
    body: {
      name: OneLineOfVisibleText1To60
      placement?: "spread" | "fill"
      open?: boolean
      reserve?: number
      reserveUnit?: "nodes" | "percent" | "gb"
    }
    result: Location
  }
  /** One location */
  'locations.get': {
    path: { id: string }
    result: Location
  }
  /** Locations, with what their nodes have and hold */
  'locations.list': {
    query?: { cursor?: string; limit?: number }
    result: LocationPage
  }
  /** Rename a location, change its placement rule or its reserve, open or close it for new servers */
  'locations.update': {
    path: { id: string }
    body: {
      name?: OneLineOfVisibleText1To60
      placement?: "spread" | "fill"
      open?: boolean
      reserve?: number
      reserveUnit?: "nodes" | "percent" | "gb"
    }
    result: Location
  }
  /** Set the mail server that sends for Berth; waiting mails are sent then. Without a password the one that is kept stays */
  'mail.configure': {
    body: {
      host: string
      port: number
      tls?: boolean
      plain?: boolean
      user?: string | null
      password?: string | null
      from: string
    }
    result: Done
  }
  /** The mail server that sends for Berth, without its password */
  'mail.get': {
    result: {
      host: string | null
      port: number | null
      tls: boolean
      plain: boolean
      user: string | null
      hasPassword: boolean
      from: string | null
    }
  }
  /** Send a test mail to your own address now; answers whether the mail server took it */
  'mail.test': {
    result: {
      to: string
      said: string
    }
  }
  /** Stop sending a message: who has it, has it; the others get none */
  'messages.cancel': {
    path: { id: string }
    result: Message
  }
  /** Change a draft */
  'messages.change': {
    path: { id: string }
    body: {
      /** Servers that fit all of it; an empty one is every server. */
      audience?: {
        nodeId?: string | null
        locationId?: string | null
        packageId?: string | null
        ipPoolId?: string | null
        label?: OneLineOfVisibleText1To40 | null
        resellerId?: string | null
        accountId?: string | null
        serverIds?: (string)[] | null
      }
      toCustomersOfResellers?: boolean
      subject?: OneLineOfVisibleText0To150
      text?: string
      isService?: boolean
      alsoNotice?: boolean
      /** When the work that it announces begins. */
      workStartsAt?: string | null
      /** When that work ends. */
      workEndsAt?: string | null
    }
    result: Message
  }
  /** Draft a message to the owners of servers on a node, in a location, with a package, an address pool or a label */
  'messages.create': {
    body: {
      /** Servers that fit all of it; an empty one is every server. */
      audience?: {
        nodeId?: string | null
        locationId?: string | null
        packageId?: string | null
        ipPoolId?: string | null
        label?: OneLineOfVisibleText1To40 | null
        resellerId?: string | null
        accountId?: string | null
        serverIds?: (string)[] | null
      }
      toCustomersOfResellers?: boolean
      subject?: OneLineOfVisibleText0To150
      text?: string
      isService?: boolean
      alsoNotice?: boolean
      /** When the work that it announces begins. */
      workStartsAt?: string | null
      /** When that work ends. */
      workEndsAt?: string | null
      /** The text to begin with. */
      template?: "empty" | "maintenance" | "outage" | "addresses" | "news"
    }
    result: Message
  }
  /** One message, with how many get it */
  'messages.get': {
    path: { id: string }
    result: Message
  }
  /** Messages to owners of servers, newest first */
  'messages.list': {
    query?: { cursor?: string; limit?: number }
    result: MessagePage
  }
  /** A message as one of its recipients reads it */
  'messages.preview': {
    path: { id: string }
    query?: { number?: number }
    result: MessagePreview
  }
  /** Who gets a message, or has got it, each with how it went */
  'messages.recipients': {
    path: { id: string }
    query?: { state?: "waiting" | "sent" | "left_out" | "cancelled"; cursor?: string; limit?: number }
    result: MessageRecipientPage
  }
  /** Remove a draft */
  'messages.remove': {
    path: { id: string }
    result: Done
  }
  /** Send a message to each of its recipients once, now or at a time */
  'messages.send': {
    path: { id: string }
    body: {
      /** So many recipients were shown; with another number nothing is sent. */
      expected?: number | null
      /** Who gets it is decided then. Null or left out: now. */
      sendAt?: string | null
    }
    result: Message
  }
  /** Mail a draft to oneself, filled in as for its first recipient */
  'messages.test': {
    path: { id: string }
    result: {
      email: string
    }
  }
  /** Get no more news, with the link from a mail; mails about the own servers still come */
  'messages.unsubscribe': {
    body: {
      token: string
    }
    result: Done
  }
  /** Figures of the installation in the text format of Prometheus; also at /metrics outside of the API */
  'monitoring.metrics': {
    result: Response
  }
  /** Put a server of the owner into a private network; it gets a card and an address, also while it runs */
  'networks.attach': {
    path: { id: string }
    body: {
      serverId: string
    }
    result: PrivateNetworkChanged
  }
  /** Add a private network in a location where the account has a server */
  'networks.create': {
    path: { id: string }
    body: {
      name: OneLineOfVisibleText1To64
      locationId: string
      /** A private range from /16 to /29. */
      ipv4: string
      /** A unique local prefix of 64 bits. */
      ipv6?: string
    }
    result: PrivateNetwork
  }
  /** Take a server out of a private network: its card goes, also while it runs */
  'networks.detach': {
    path: { id: string; serverId: string }
    result: PrivateNetworkChanged
  }
  /** One private network */
  'networks.get': {
    path: { id: string }
    result: PrivateNetwork
  }
  /** Private networks, newest first, with the servers in each */
  'networks.list': {
    query?: { ownerId?: string; cursor?: string; limit?: number }
    result: PrivateNetworkPage
  }
  /** Remove a private network that has no servers */
  'networks.remove': {
    path: { id: string }
    result: Done
  }
  /** Rename a private network */
  'networks.update': {
    path: { id: string }
    body: {
      name: OneLineOfVisibleText1To64
    }
    result: PrivateNetwork
  }
  /** Tell the owners of servers that will be off for the maintenance of a node, by notice and mail */
  'nodes.announce-maintenance': {
    path: { id: string }
    query?: { dryRun?: "true" | "false" }
    body: {
      startsAt: string
      endsAt?: string | null
      /** Words of your own, in a paragraph between ours. */
      text?: string
      /** The drain begins by itself at `startsAt`, as by `nodes.schedule-drain`. Without it: false. */
      drain?: boolean
    }
    result: MaintenanceNotice
  }
  /** The use of the cards of a node over time, in steps from 10 seconds to a day */
  'nodes.card-metrics': {
    path: { id: string }
    query?: { range?: "1h" | "24h" | "7d" | "30d" | "1y"; from?: string; to?: string; resolution?: "10" | "60" | "300" | "600" | "1800" | "3600" | "7200" | "21600" | "86400" }
    result: NodeCardMetrics
  }
  /** Choose how a server leaves its node, until a drain begins: its way, its node, its place, or that it stays */
  'nodes.choose-in-drain-plan': {
    path: { id: string; serverId: string }
    body: {
      /** Null, and without it: as nothing speaks against. */
      mode?: "live" | "near_live" | "cold" | null
      /** Null: placement chooses. */
      nodeId?: string | null
      /** It stays where it is. */
      leave?: boolean
      /** Those with a place move first, in its order. Null: in the order of the plan. */
      place?: number | null
    }
    result: DrainChoiceKept
  }
  /** Declare a node lost: everything on it has failed, and it is refused until it is enrolled again */
  'nodes.declare-lost': {
    path: { id: string }
    body: {
      /** The name of the node, typed to confirm. */
      name: string
    }
    result: WorkloadsOfNode
  }
  /** What emptying a node would do: where each server goes, how, for how long, and what cannot move and why */
  'nodes.drain-plan': {
    path: { id: string }
    query?: { atOnce?: number; maxMbps?: number }
    result: DrainPlan
  }
  /** The servers of the same plan as a spreadsheet */
  'nodes.drain-plan-export': {
    path: { id: string }
    query?: { atOnce?: number; maxMbps?: number }
    result: Response
  }
  /** Open a node again, start what an evacuation stopped there, and bring its servers back if wanted */
  'nodes.end-maintenance': {
    path: { id: string }
    body: {
      /** Its servers come back from where they are. Without it: they stay. */
      bringBack?: boolean
      /** So many moves at a time, and no more than the setting. Without it: the setting. */
      atOnce?: number
      /** The most megabit per second that a move takes. */
      maxMbps?: number | null
      /** continue: a server that could not move is listed, and the others go on. pause: it waits for a person. Without it: continue. */
      onFailure?: "continue" | "pause"
    }
    result: MaintenanceEnded
  }
  /** Create a token that enrolls one node; it is shown only once */
  'nodes.enroll': {
    body: {
      locationId: string
      name?: OneLineOfVisibleText0To60
      bridge?: string
      /** The network card or the bond that leads out of the node. */
      uplink?: string
      /** The VLANs on the uplink for servers: `all`, or a list such as `20,100-199`. */
      vlans?: string
    }
    result: {
      id: string
      token: string
      command: string
      expiresAt: string
    }
  }
  /** Whether the node has enrolled yet */
  'nodes.enrollment': {
    path: { id: string }
    result: {
      id: string
      state: "waiting" | "used" | "expired"
      expiresAt: string
      node: {
        id: string
        name: string
        connected: boolean
        /** Attached to it; without one it takes no servers with addresses. */
        addressPools: number
      } | null
    }
  }
  /** Take back every choice in the plan of a node */
  'nodes.forget-drain-choices': {
    path: { id: string }
    result: Done
  }
  /** One node: its facts, its load, and what differs from what should be on it */
  'nodes.get': {
    path: { id: string }
    result: {
      id: string
      name: string
      location: LocationReference
      connected: boolean
      /** Expected back within a minute. */
      reconnecting: boolean
      connectedAt: string | null
      seenAt: string
      /** How far its clock is from the controller's. */
      skewMs: number
      /** Its parts that do not answer although it is connected: its servers have the power that was last known. */
      silent: (SilentPart)[]
      /** It takes new servers. */
      open: boolean
      /** Since when it takes none; null while it is open, and where nobody knows. */
      closedAt: string | null
      /** In the words of who closed it. */
      closedReason: string | null
      /** Declared lost: its servers have failed, and it is refused until it is enrolled again. */
      lostAt: string | null
      /** It is refused until its credential is renewed. */
      credentialRevokedAt: string | null
      bridge: string
      agentVersion: string
      /** itself: by a roll-out. package: with apt. hand: by an operator. Null: it is an early agent, updated by hand. */
      agentUpdatedBy: "itself" | "package" | "hand" | null
      agentOutdated: boolean
      /** A simulated host. */
      fake: boolean
      virtualisation: Virtualisation
      servers: number
      threads: number
      memoryMb: number
      /** Kept for the host itself. */
      reservedMemoryMb: number
      heldMemoryMb: number
      /** Of all its storage pools together. */
      diskGb: number
      /** Promised to servers. */
      heldDiskGb: number
      /** Left for orders in all pools together; 5 % of each stays in reserve. */
      freeDiskGb: number
      storagePools: (PoolOfNode)[]
      /** Between what should be on it and what is. */
      differences: number
      /** It has not told which addresses are in use on it since the database was restored: until then the pools that it routes give none. */
      awaited: boolean
      /** Measured at `at`: now, or, while the node is away, the last time; null before the first since the controller started. */
      load: NodeLoad | null
      facts: {
        hostname: OneLineOfText0To253
        agentVersion: OneLineOfText0To64
        fake: boolean
        os: OneLineOfText0To200
        kernel: OneLineOfText0To200
        bootedAt: number
        cpu: {
          model: OneLineOfText0To200
          threads: number
        }
        cpuModels?: (string)[]
        memoryMb: number
        virtualisation: Virtualisation
        hardware?: NodeHardware
        versions: Record<string, OneLineOfText0To100>
        bridges: ({
          name: string
          addresses: (string)[]
        })[]
        addresses: (string)[]
        uplink?: Uplink
        managementAddress?: string
        containers?: ContainerEngine
        cards?: (Card)[]
        updatedBy?: "itself" | "package" | "hand"
        platform?: OneLineOfText0To41
        update?: AgentUpdate
      }
      inventoryAt: string | null
      /** When it was not connected: the last 100, the newest first; to is null while it still is not. */
      absences: ({
        from: string
        to: string | null
      })[]
      /** Those of `servers` that are GPU instances. */
      gpuInstances: number
      /** Accounts that own a server on it. */
      customers: number
      /** What it did within the last day that no node should. */
      misconduct: ({
        level: "bad" | "warn"
        what: string
        effect: string
        lastAt: string
      })[]
      found: ({
        kind: string
        workloadId: string | null
        words: string
      })[]
      pools: ({
        id: string
        name: string
        network: string
        /** Null: none. */
        vlan: number | null
      })[]
    }
  }
  /** Nodes, with their health and what they hold */
  'nodes.list': {
    query?: { locationId?: string; state?: "connected" | "away"; sort?: "name" | "-name" | "location" | "-location"; cursor?: string; limit?: number }
    result: NodePage
  }
  /** How far the maintenance of a node is: its steps with their times, and what waits for its end */
  'nodes.maintenance': {
    path: { id: string }
    result: NodeMaintenance
  }
  /** Who would be told of the maintenance of a node, and in which words */
  'nodes.maintenance-notice': {
    path: { id: string }
    query?: { startsAt?: string }
    result: MaintenanceNotice
  }
  /** Processor, memory, disk and network of a node over time, in steps from 10 seconds to a day */
  'nodes.metrics': {
    path: { id: string }
    query?: { range?: "1h" | "24h" | "7d" | "30d" | "1y"; from?: string; to?: string; resolution?: "10" | "60" | "300" | "600" | "1800" | "3600" | "7200" | "21600" | "86400" }
    result: NodeMetrics
  }
  /** Remove a node that holds no server or is lost; its credential ends at once */
  'nodes.remove': {
    path: { id: string }
    result: Done
  }
  /** Remove a node, terminate everything on it and lose its extra volumes, also when it is away for good */
  'nodes.remove-with-workloads': {
    path: { id: string }
    body: {
      /** The name of the node, typed to confirm. */
      name: string
    }
    result: WorkloadsTerminated
  }
  /** Create a token that gives a node a new credential; it keeps its place and its servers */
  'nodes.renew-enrollment': {
    path: { id: string }
    result: {
      id: string
      token: string
      command: string
      expiresAt: string
    }
  }
  /** The servers that can come back to a node after maintenance, how and for how long; and those stopped there */
  'nodes.return-plan': {
    path: { id: string }
    result: ReturnPlan
  }
  /** Revoke the credential of a node at once; its servers run on until it has a new one */
  'nodes.revoke-credential': {
    path: { id: string }
    result: Node
  }
  /** Let a drain begin by itself at a time, with the choices of the plan; called again it changes that, and tells owners who know its time the new one */
  'nodes.schedule-drain': {
    path: { id: string }
    body: {
      /** At most 30 days ahead. Until then the node stays open, and nothing is held. */
      startsAt: string
      /** So many moves at a time, and no more than the setting. Without it: the setting. */
      atOnce?: number
      /** The most megabit per second that a move takes. */
      maxMbps?: number | null
      /** continue: a server that could not move is listed, and the others go on. pause: it waits for a person. Without it: continue. */
      onFailure?: "continue" | "pause"
      /** Why the node is closed then, for colleagues. */
      reason?: string
    }
    result: ScheduledDrain
  }
  /** Give addresses of its pools again, although the node has not told which are in use on it */
  'nodes.stop-awaiting': {
    path: { id: string }
    body: {
      /** The name of the node, typed to confirm. */
      name: string
    }
    result: Node
  }
  /** Take back a drain that was to begin by itself; the choices of the plan stay, and nobody is told */
  'nodes.unschedule-drain': {
    path: { id: string }
    result: Done
  }
  /** Rename a node, close it for new servers, change its bridge or what is kept for the host */
  'nodes.update': {
    path: { id: string }
    body: {
      name?: OneLineOfVisibleText1To60
      open?: boolean
      /** Why it is closed, for colleagues; gone when it is opened again. */
      closedReason?: OneLineOfVisibleText1To200 | null
      bridge?: string
      reservedMemoryMb?: number
    }
    result: Node
  }
  /** How the own account gets each kind of notice: in the panel, by mail, and of which locations */
  'notices.choices': {
    result: {
      kinds: (NoticeChoice)[]
      /** Those that you can choose; none where no kind is about a location. */
      locations: (LocationReference)[]
    }
  }
  /** Choose which kinds of notices the own account gets in the panel and which by mail; those that cannot be turned off always come */
  'notices.choose': {
    body: {
      inPanel: (string)[]
      byMail: (string)[]
    }
    result: {
      kinds: (NoticeChoice)[]
      /** Those that you can choose; none where no kind is about a location. */
      locations: (LocationReference)[]
    }
  }
  /** Choose the locations of which a kind of notice comes to the own account; none: all, also later ones */
  'notices.choose-locations': {
    body: {
      kind: string
      locationIds: (string)[]
    }
    result: {
      kinds: (NoticeChoice)[]
      /** Those that you can choose; none where no kind is about a location. */
      locations: (LocationReference)[]
    }
  }
  /** Notices of the own account, of the last 90 days */
  'notices.list': {
    query?: { unread?: "true"; cursor?: string; limit?: number }
    result: {
      data: (Notice)[]
      /** Null on the last page. */
      nextCursor: string | null
      /** Of all pages together. */
      total: number
      /** So many unread ones are about something that is down now. */
      outages: number
    }
  }
  /** Mark notices as read */
  'notices.read': {
    body: {
      /** The newest one to mark; without it, all. */
      upTo?: string
    }
    result: {
      marked: number
    }
  }
  /** Which members of staff are told when a node goes away and when storage is nearly full */
  'outages.recipients': {
    result: {
      kinds: (OutageRecipients)[]
    }
  }
  /** What needs attention, capacity, jobs, and the setup checklist; what your role does not include is null or left out */
  'overview.get': {
    result: {
      checkedAt: string
      attention: (Attention)[]
      checklist: (Step)[]
      servers: Record<string, number> | null
      unreachable: Record<string, number> | null
      jobs: {
        running: number
        failed24h: number
        done24h: number
      } | null
      nodes: {
        total: number
        connected: number
        versions: Record<string, number>
      } | null
      gpus: {
        free: number
        held: number
        checking: number
        closed: number
        broken: number
        missing: number
      } | null
      locations: (Location)[] | null
    }
  }
  /** What the navigation says beside its entries, such as how many nodes are away */
  'overview.navigation-marks': {
    result: {
      marks: ({
        /** Of the entry. */
        name: string
        words: string
        /** Something is wrong. */
        bad: boolean
      })[]
    }
  }
  /** What needs your attention, the servers you see by state, and what a new account has still to do */
  'overview.own': {
    result: {
      checkedAt: string
      attention: (Attention)[]
      checklist: (Step)[]
      servers: Record<string, number>
      /** Those of `servers` whose node is not connected, by the state in which they were last seen. */
      unreachable: Record<string, number>
    }
  }
  /** Add an own image by https address and checksum: a qcow2 disk that only its owner sees */
  'own-images.create': {
    path: { id: string }
    body: {
      name: OneLineOfVisibleText1To80
      /** https, at a public address. */
      url: string
      /** Of the file, as its publisher gives it. */
      checksum: string
      /** windows: prepared with cloudbase-init. It gets its data as a config drive, and the user Administrator. */
      os?: "linux" | "windows"
      /** The version of cloud-init network-config that its system gets. v1 is for most systems. v2 is for netplan with cloud-init before 23.1, such as Debian 12, which loses gateways outside the network of an address in v1. Windows ignores it. */
      networkConfig?: "v1" | "v2"
    }
    result: OwnImage
  }
  /** The own images of an account, newest first */
  'own-images.list': {
    path: { id: string }
    query?: { cursor?: string; limit?: number }
    result: OwnImagePage
  }
  /** Remove an own image; servers installed with it keep running */
  'own-images.remove': {
    path: { id: string }
    result: Done
  }
  /** Rename an own image */
  'own-images.update': {
    path: { id: string }
    body: {
      name: OneLineOfVisibleText1To80
    }
    result: OwnImage
  }
  /** Add a package that servers can be ordered with */
  'packages.create': {
    body: {
      name: OneLineOfVisibleText1To60
      billingProductId?: OneLineOfVisibleText0To100 | null
      vcpus: number
      memoryMb: number
      diskGb: number
      trafficGb?: number | null
      portMbps?: number | null
      ipv4?: number
      ipv6Prefix?: number | null
      overTraffic?: "nothing" | "suspend" | "throttle"
      throttleMbps?: number | null
      restartPolicy?: "always" | "on_failure" | "never"
      snapshotLimit?: number
      storageClass?: string | null
      volumeGb?: number
      volumeClass?: string | null
      diskReadIops?: number | null
      diskWriteIops?: number | null
      diskReadMbPerSecond?: number | null
      diskWriteMbPerSecond?: number | null
      newConnectionsPerSecond?: number | null
      packetsPerSecond?: number | null
      smtpAllowed?: boolean
      price?: string | null
      currency?: string | null
      pricePer?: "hour" | "month"
    }
    result: Package
  }
  /** Packages and locations with their identifiers: what an order names */
  'packages.list': {
    query?: { sort?: "name" | "-name" | "memoryMb" | "-memoryMb" | "trafficGb" | "-trafficGb" | "archived" | "-archived"; cursor?: string; limit?: number }
    result: {
      data: (Package)[]
      nextCursor: string | null
      total: number
      locations: (Location)[]
    }
  }
  /** Change a package; servers keep what they were ordered with, and follow its limits of mail and connections */
  'packages.update': {
    path: { id: string }
    body: {
      name?: OneLineOfVisibleText1To60
      billingProductId?: OneLineOfVisibleText0To100 | null
      vcpus?: number
      memoryMb?: number
      diskGb?: number
      trafficGb?: number | null
      portMbps?: number | null
      ipv4?: number
      ipv6Prefix?: number | null
      overTraffic?: "nothing" | "suspend" | "throttle"
      throttleMbps?: number | null
      restartPolicy?: "always" | "on_failure" | "never"
      snapshotLimit?: number
      storageClass?: string | null
      volumeGb?: number
      volumeClass?: string | null
      diskReadIops?: number | null
      diskWriteIops?: number | null
      diskReadMbPerSecond?: number | null
      diskWriteMbPerSecond?: number | null
      newConnectionsPerSecond?: number | null
      packetsPerSecond?: number | null
      smtpAllowed?: boolean
      price?: string | null
      currency?: string | null
      pricePer?: "hour" | "month"
      archived?: boolean
    }
    result: Package
  }
  /** What the browser needs to make a passkey for the own account */
  'passkeys.begin': {
    result: PasskeyOptions
  }
  /** Add the passkey that the browser made; it signs in from now on. Ends the other sessions */
  'passkeys.create': {
    body: {
      name?: OneLineOfVisibleText1To60
      passkey: {
        id: string
        response: {
          clientDataJSON: string
        }
      }
    }
    result: {
      id: string
      recoveryCodes: (string)[] | null
    }
  }
  /** Remove a passkey; ends the other sessions */
  'passkeys.remove': {
    path: { id: string }
    result: Done
  }
  /** Rename a passkey */
  'passkeys.rename': {
    path: { id: string }
    body: {
      name: OneLineOfVisibleText1To60
    }
    result: {
      id: string
      name: string
    }
  }
  /** Ask for a link to choose a new password; the answer is the same whether or not the address has an account */
  'password-resets.create': {
    body: {
      email: string
    }
    result: Done
  }
  /** Choose a password with the link from a mail, and sign in; every other session ends */
  'passwords.set': {
    body: {
      token: string
      password: string
    }
    result: SignedIn
  }
  /** Put a GPU instance of the owner into a placement group: servers of the group keep the rule with it */
  'placement-groups.add-instance': {
    path: { id: string }
    body: {
      instanceId: string
    }
    result: PlacementGroup
  }
  /** Put a server of the owner into a placement group; it is not moved by it */
  'placement-groups.add-server': {
    path: { id: string }
    body: {
      serverId: string
    }
    result: PlacementGroup
  }
  /** Add a placement group: servers that are to be on one node, or each on a node of its own */
  'placement-groups.create': {
    path: { id: string }
    body: {
      name: OneLineOfVisibleText1To64
      policy: "affinity" | "anti_affinity"
      /** Left out: true. */
      hard?: boolean
    }
    result: PlacementGroup
  }
  /** One placement group */
  'placement-groups.get': {
    path: { id: string }
    result: PlacementGroup
  }
  /** Placement groups, newest first, with their servers and whether the rule is kept */
  'placement-groups.list': {
    query?: { ownerId?: string; serverId?: string; cursor?: string; limit?: number }
    result: PlacementGroupPage
  }
  /** Move the server that the group suggests, to the node that it suggests, so that its rule is kept */
  'placement-groups.mend': {
    path: { id: string }
    body: {
      /** That of the suggestion, to confirm. */
      serverId: string
      /** Likewise. */
      nodeId: string
    }
    result: GroupMended
  }
  /** Remove a placement group; its servers stay where they are */
  'placement-groups.remove': {
    path: { id: string }
    result: Done
  }
  /** Take a GPU instance out of a placement group */
  'placement-groups.take-out-instance': {
    path: { id: string; instanceId: string }
    result: PlacementGroup
  }
  /** Take a server out of a placement group; it stays where it is */
  'placement-groups.take-out-server': {
    path: { id: string; serverId: string }
    result: PlacementGroup
  }
  /** Rename a placement group, or change its rule; no server is moved by it */
  'placement-groups.update': {
    path: { id: string }
    body: {
      name?: OneLineOfVisibleText1To64
      policy?: "affinity" | "anti_affinity"
      hard?: boolean
    }
    result: PlacementGroup
  }
  /** The addresses of a pool, in order: the map */
  'pools.addresses': {
    path: { id: string }
    query?: { cursor?: string; limit?: number }
    result: PoolAddressPage
  }
  /** Set which nodes route this pool */
  'pools.attach': {
    path: { id: string }
    body: {
      nodeIds: (string)[]
    }
    result: AddressPool
  }
  /** Add an address pool and attach it to nodes */
  'pools.create': {
    body: {
      name: OneLineOfVisibleText1To60
      network: string
      gateway: string
      first?: string
      last?: string
      resolvers?: (string)[]
      nodeIds?: (string)[]
      /** So long a freed address rests before another server gets it. Without it: 24. 0: it does not rest. */
      quarantineHours?: number
      /** The VLAN of the uplinks of its nodes in which servers with its addresses are. Null: they are on the bridge of their node, without a tag. */
      vlan?: number | null
    }
    result: AddressPool
  }
  /** End the rest of a freed address: the next order may get it */
  'pools.end-rest': {
    path: { id: string }
    result: {
      id: string
      address: string
    }
  }
  /** One address pool */
  'pools.get': {
    path: { id: string }
    result: AddressPool
  }
  /** Who had the addresses of a pool, from when to when, newest first */
  'pools.history': {
    path: { id: string }
    query?: { cursor?: string; limit?: number }
    result: AddressHoldingPage
  }
  /** Address pools and how full they are */
  'pools.list': {
    query?: { sort?: "name" | "-name" | "version" | "-version"; cursor?: string; limit?: number }
    result: AddressPoolPage
  }
  /** The nodes that route a pool, by name */
  'pools.nodes': {
    path: { id: string }
    query?: { cursor?: string; limit?: number }
    result: {
      data: ({
        id: string
        name: string
      })[]
      /** Null on the last page. */
      nextCursor: string | null
      /** Of all pages together. */
      total: number
    }
  }
  /** Remove a pool when no server has an address from it */
  'pools.remove': {
    path: { id: string }
    result: Done
  }
  /** Reserve an address so that no server gets it, or free it again */
  'pools.reserve': {
    path: { id: string }
    body: {
      reservedFor: OneLineOfVisibleText1To100 | null
    }
    result: {
      id: string
      address: string
      reservedFor: string | null
    }
  }
  /** Never give an address out again; a server that has it keeps it. Again with another reason: changes that */
  'pools.retire-address': {
    path: { id: string }
    body: {
      reason: OneLineOfVisibleText1To200
    }
    result: {
      id: string
      address: string
      /** held: it is reserved when it is given back. */
      state: "free" | "held" | "reserved" | "resting"
      retiredFor: string | null
    }
  }
  /** Set how long addresses that are freed from now on rest; those that rest already keep their time */
  'pools.set-quarantine': {
    path: { id: string }
    body: {
      /** So long a freed address rests before another server gets it. Without it: 24. 0: it does not rest. */
      quarantineHours: number
    }
    result: AddressPool
  }
  /** Set the VLAN of a pool none of whose addresses is in use */
  'pools.set-vlan': {
    path: { id: string }
    body: {
      /** The VLAN of the uplinks of its nodes in which servers with its addresses are. Null: they are on the bridge of their node, without a tag. */
      vlan: number | null
    }
    result: AddressPool
  }
  /** Let an address that was never to be given out again be given to servers; of any other it changes nothing */
  'pools.unretire-address': {
    path: { id: string }
    result: {
      id: string
      address: string
      /** held: it is reserved when it is given back. */
      state: "free" | "held" | "reserved" | "resting"
      retiredFor: string | null
    }
  }
  /** Generate ten new recovery codes, shown only once; the earlier ones end */
  'recovery-codes.create': {
    result: {
      recoveryCodes: (string)[]
    }
  }
  /** The replica of the database: where it is, and how far */
  'replica.get': {
    result: Replica
  }
  /** Name, logo, colour, support link and mail sender of the reseller, as its own customers see it; null is inherited */
  'reseller-branding.get': {
    result: Branding
  }
  /** Remove the logo of the reseller, as its own customers see it */
  'reseller-branding.remove-logo': {
    result: Done
  }
  /** Set name, colour, support link and mail sender of the reseller, as its own customers see it; what is null or left out is inherited */
  'reseller-branding.set': {
    body: {
      name?: OneLineOfVisibleText1To60 | null
      accent?: string | null
      senderName?: OneLineOfVisibleText1To60 | null
      senderAddress?: string | null
      supportLink?: OneLineOfVisibleText1To254 | null
    }
    result: Branding
  }
  /** Set the logo of the reseller, as its own customers see it: a PNG, JPEG or WebP picture of up to 100 kB */
  'reseller-branding.set-logo': {
    body: {
      image: string
    }
    result: Branding
  }
  /** The packages and locations that you may sell, with their identifiers, and your quotas */
  'reseller.account': {
    result: Reseller
  }
  /** Add a customer of your own */
  'reseller.create-customer': {
    body: {
      name: OneLineOfVisibleText1To100
      email: string
      organization?: OneLineOfVisibleText0To100 | null
      externalId?: OneLineOfVisibleText1To100 | null
      invite?: boolean
    }
    result: Customer
  }
  /** Order a server for yourself or one of your customers; without an image it waits for its owner to set it up */
  'reseller.create-server': {
    query?: { dryRun?: "true" | "false" }
    body: {
      /** The customer. Null only with `dryRun=true`: as for a customer of yours who is still to be made. */
      ownerId: string | null
      packageId: string
      nodeGroupId: string
      imageId?: string | null
      hostname?: string | null
      name?: OneLineOfVisibleText1To64 | null
      access?: {
        mode: "password" | "ssh_keys"
        sshKeyIds?: (string)[]
      } | null
      scriptId?: string | null
      userData?: string | null
      billingServiceId?: OneLineOfVisibleText0To100 | null
      /** A placement group of the owner, which the server joins: it says to which node it may go. */
      placementGroupId?: string | null
    }
    result: ServerOrdered
  }
  /** Your customers, newest first */
  'reseller.customers': {
    query?: { q?: string; email?: string; externalId?: string; locked?: "yes"; sort?: "name" | "-name" | "email" | "-email" | "externalId" | "-externalId" | "lockedAt" | "-lockedAt" | "createdAt" | "-createdAt"; cursor?: string; limit?: number }
    result: CustomerPage
  }
  /** Your customers as a spreadsheet, filtered and sorted as the list */
  'reseller.export-customers': {
    query?: { q?: string; email?: string; externalId?: string; locked?: "yes"; sort?: "name" | "-name" | "email" | "-email" | "externalId" | "-externalId" | "lockedAt" | "-lockedAt" | "createdAt" | "-createdAt" }
    result: Response
  }
  /** Add a reseller: what it may sell and where; what has no quota is not limited */
  'resellers.create': {
    body: {
      name: OneLineOfVisibleText1To100
      email: string
      organization?: OneLineOfVisibleText0To100 | null
      externalId?: OneLineOfVisibleText1To100 | null
      invite?: boolean
      quotas?: {
        customers?: number | null
        servers?: number | null
        vcpus?: number | null
        memoryMb?: number | null
        diskGb?: number | null
        ipv4?: number | null
        gpus?: number | null
      }
      packageIds?: (string)[]
      locationIds?: (string)[]
    }
    result: Reseller
  }
  /** One reseller: its quotas, and what it may sell where */
  'resellers.get': {
    path: { id: string }
    result: Reseller
  }
  /** Resellers, newest first, with what they hold of their quotas */
  'resellers.list': {
    query?: { q?: string; email?: string; externalId?: string; locked?: "yes"; sort?: "name" | "-name" | "email" | "-email" | "externalId" | "-externalId" | "lockedAt" | "-lockedAt" | "createdAt" | "-createdAt"; cursor?: string; limit?: number }
    result: ResellerPage
  }
  /** Suspend a reseller: it and its customers get nothing new; their servers keep running */
  'resellers.suspend': {
    path: { id: string }
    body: {
      reason: OneLineOfVisibleText1To500
    }
    result: Reseller
  }
  /** Unsuspend a reseller: it may order and add customers again */
  'resellers.unsuspend': {
    path: { id: string }
    result: Reseller
  }
  /** Change a reseller; what is not sent stays as it is, and a lower quota takes nothing away */
  'resellers.update': {
    path: { id: string }
    body: {
      name?: OneLineOfVisibleText1To100
      email?: string
      organization?: OneLineOfVisibleText0To100 | null
      externalId?: OneLineOfVisibleText1To100 | null
      quotas?: {
        customers?: number | null
        servers?: number | null
        vcpus?: number | null
        memoryMb?: number | null
        diskGb?: number | null
        ipv4?: number | null
        gpus?: number | null
      }
      packageIds?: (string)[]
      locationIds?: (string)[]
    }
    result: Reseller
  }
  /** The names that the addresses of a server have in reverse DNS */
  'reverse-dns.list': {
    path: { id: string }
    result: {
      /** False: the provider keeps no reverse DNS here. */
      configured: boolean
      names: (ReverseName)[]
    }
  }
  /** Set the reverse DNS name of an address; the name must lead to the address */
  'reverse-dns.set': {
    path: { id: string }
    body: {
      address: string
      /** Null: the address has no name any more. */
      name: string | null
    }
    result: {
      /** False: the provider keeps no reverse DNS here. */
      configured: boolean
      names: (ReverseName)[]
    }
  }
  /** Set the reverse DNS name of an address without checking where the name leads */
  'reverse-dns.set-unconfirmed': {
    path: { id: string }
    body: {
      address: string
      /** Null: the address has no name any more. */
      name: string | null
    }
    result: {
      /** False: the provider keeps no reverse DNS here. */
      configured: boolean
      names: (ReverseName)[]
    }
  }
  /** The name server for reverse DNS, without its key */
  'reverse-dns.settings': {
    result: {
      kind: "none" | "powerdns" | "rfc2136"
      url: string | null
      host: string | null
      port: number | null
      zones: (string)[]
      keyName: string | null
    }
  }
  /** Ask the name server now which zones it lets Berth change; nothing is changed */
  'reverse-dns.test': {
    result: {
      zones: (string)[]
    }
  }
  /** Stop managing reverse DNS; the records that the name server has stay there */
  'reverse-dns.use-none': {
    result: Done
  }
  /** Keep reverse DNS in PowerDNS, by its HTTP API; without a key the one that is kept stays */
  'reverse-dns.use-powerdns': {
    body: {
      /** Without /api/v1. */
      url: string
      key?: string
    }
    result: Done
  }
  /** Keep reverse DNS in a name server that takes dynamic updates (RFC 2136) signed with HMAC-SHA256; without a secret the one that is kept stays */
  'reverse-dns.use-rfc2136': {
    body: {
      host: string
      port?: number
      zones: (string)[]
      keyName: string
      secret?: string
    }
    result: Done
  }
  /** Add a role; it may do no more than its maker */
  'roles.create': {
    body: {
      name: OneLineOfVisibleText1To60
      permissions: ("customers.read" | "customers.write" | "resellers.write" | "nodes.read" | "nodes.write" | "gpu.write" | "servers.see_all" | "servers.create" | "servers.resize" | "servers.suspend" | "servers.terminate" | "servers.power" | "servers.reinstall" | "servers.settings" | "servers.move" | "nodes.maintain" | "metrics.read" | "network.write" | "images.write" | "packages.write" | "support_session" | "api_webhooks" | "audit.read" | "settings.write" | "staff.write" | "reports.read" | "imports")[]
      secondFactor?: boolean
    }
    result: Role
  }
  /** One role of staff, with what it may do */
  'roles.get': {
    path: { id: string }
    result: Role
  }
  /** The roles of staff, each with what it may do and how many have it */
  'roles.list': {
    query?: { cursor?: string; limit?: number }
    result: RolePage
  }
  /** Remove a role that nobody has */
  'roles.remove': {
    path: { id: string }
    result: Done
  }
  /** The API tokens of the members of a role */
  'roles.tokens': {
    path: { id: string }
    query?: { cursor?: string; limit?: number }
    result: RoleTokenPage
  }
  /** Change a role; it applies at once to everybody who has it */
  'roles.update': {
    path: { id: string }
    body: {
      name?: OneLineOfVisibleText1To60
      permissions?: ("customers.read" | "customers.write" | "resellers.write" | "nodes.read" | "nodes.write" | "gpu.write" | "servers.see_all" | "servers.create" | "servers.resize" | "servers.suspend" | "servers.terminate" | "servers.power" | "servers.reinstall" | "servers.settings" | "servers.move" | "nodes.maintain" | "metrics.read" | "network.write" | "images.write" | "packages.write" | "support_session" | "api_webhooks" | "audit.read" | "settings.write" | "staff.write" | "reports.read" | "imports")[]
      secondFactor?: boolean
    }
    result: Role
  }
  /** Go on with a roll-out that is paused, without the nodes that failed */
  'roll-outs.continue': {
    path: { id: string }
    result: RollOutDetail
  }
  /** One roll-out with its nodes; follow it until `finishedAt` is set */
  'roll-outs.get': {
    path: { id: string }
    result: RollOutDetail
  }
  /** Leave a node out that waits or has failed: it stays at its version */
  'roll-outs.leave-out': {
    path: { id: string }
    body: {
      /** One of the nodes of the roll-out. */
      nodeId: string
    }
    result: RollOutDetail
  }
  /** Updates of the agents of all nodes, newest first */
  'roll-outs.list': {
    query?: { cursor?: string; limit?: number }
    result: RollOutPage
  }
  /** Let no further node begin; those at work come to their end */
  'roll-outs.pause': {
    path: { id: string }
    result: RollOutDetail
  }
  /** Try a node again that has failed or was left out; when it stopped the roll-out and succeeds, that goes on */
  'roll-outs.retry': {
    path: { id: string }
    body: {
      /** One of the nodes of the roll-out. */
      nodeId: string
    }
    result: RollOutDetail
  }
  /** Bring the agents of all nodes to the version of the controller: one first, then waves; a failure stops it */
  'roll-outs.start': {
    body: {
      /** Without it: the connected node with the fewest servers. */
      firstNodeId?: string
      /** How long the first node and each wave is watched before the next one begins. Without it: 900. */
      watchSeconds?: number
      /** How long an agent must run well before its version stays. Without it: 60. */
      trialSeconds?: number
      /** How many nodes are updated at once in each wave; the last number counts for all that follow. Without it: 3, 5, 10. */
      waveSizes?: (number)[]
      /** When nodes of a location may begin; nodes of other locations may at any time. */
      windows?: ({
        /** None: it is ignored. */
        locationIds: (string)[]
        from: string
        /** Before `from`: on the next day. */
        to: string
        /** As Europe/Helsinki. */
        timeZone: string
      })[]
      leftOutNodeIds?: (string)[]
    }
    result: RollOutDetail
  }
  /** End a roll-out: no further node begins, those at work come to their end, and each stays at its version */
  'roll-outs.stop': {
    path: { id: string }
    result: RollOutDetail
  }
  /** End maintenance of several nodes: no further node is emptied; a drain at work goes on until it is cancelled too */
  'rolling.cancel': {
    path: { id: string }
    result: RollingMaintenance
  }
  /** Say that the work on the node at hand is done: it is opened, and the next one follows */
  'rolling.confirm': {
    path: { id: string }
    result: RollingMaintenance
  }
  /** One maintenance of several nodes; follow it until `finishedAt` is set */
  'rolling.get': {
    path: { id: string }
    result: RollingMaintenance
  }
  /** Maintenance of several nodes one after another, newest first */
  'rolling.list': {
    query?: { cursor?: string; limit?: number }
    result: RollingMaintenancePage
  }
  /** Go on with maintenance of several nodes that paused: the node at hand is emptied again; what did not come back to it stays away */
  'rolling.resume': {
    path: { id: string }
    result: RollingMaintenance
  }
  /** Skip the node at which maintenance of several nodes paused: it stays closed as it is, and the next one follows */
  'rolling.skip': {
    path: { id: string }
    result: RollingMaintenance
  }
  /** Empty several nodes one after another; each waits until its work is done, and the first that fails stops it */
  'rolling.start': {
    body: {
      nodeIds: (string)[]
      /** The sign that the work on a node is done. person: `rolling.confirm`. reboot: the node has restarted and is connected; a person may confirm before. Without it: person. */
      waitsFor?: "person" | "reboot"
      /** Servers come back to each node. Without it: they stay away. */
      bringBack?: boolean
      /** So many moves at a time, and no more than the setting. Without it: the setting. */
      atOnce?: number
      /** The most megabit per second that a move takes. */
      maxMbps?: number | null
    }
    result: RollingMaintenance
  }
  /** Save the filters of a list under a name, for the own account */
  'saved-filters.create': {
    body: {
      list: "servers"
      name: OneLineOfVisibleText1To60
      /** The filters as in the address of the list, such as `status=running&label=shop`. */
      query: string
    }
    result: SavedFilter
  }
  /** The saved filters of the own account, newest first */
  'saved-filters.list': {
    query?: { cursor?: string; limit?: number }
    result: SavedFilterPage
  }
  /** Remove a saved filter of the own account */
  'saved-filters.remove': {
    path: { id: string }
    result: Done
  }
  /** Add a startup script to an account; it runs at the first boot of servers */
  'scripts.create': {
    path: { id: string }
    body: {
      name: OneLineOfVisibleText1To80
      /** Begins with #! and an interpreter; at most 64 KiB. It runs once, as root, at the first boot. */
      content: string
    }
    result: ScriptWithContent
  }
  /** A script with its text */
  'scripts.get': {
    path: { id: string }
    result: ScriptWithContent
  }
  /** The scripts of an account, newest first */
  'scripts.list': {
    path: { id: string }
    query?: { cursor?: string; limit?: number }
    result: ScriptPage
  }
  /** Remove a script; servers that were installed with it stay as they are */
  'scripts.remove': {
    path: { id: string }
    result: Done
  }
  /** Change a script; servers that were installed with it keep the one that they ran */
  'scripts.update': {
    path: { id: string }
    body: {
      name?: OneLineOfVisibleText1To80
      /** Begins with #! and an interpreter; at most 64 KiB. It runs once, as root, at the first boot. */
      content?: string
    }
    result: ScriptWithContent
  }
  /** Find servers, customers, nodes, jobs, pages and actions by name, address or id; at most 12 */
  'search.find': {
    query?: { q?: string }
    result: {
      data: ({
        type: "page" | "action" | "customer" | "node" | "server" | "GPU instance" | "placement group" | "volume" | "job" | "address"
        id: string | null
        title: string
        detail: string | null
        href: string
        /** The whole text is its id, address or name. Such ones come first. */
        exact: boolean
        /** A page that its reader can open for it, an operation that can be called on it now, or a text to copy. Only the first hit has them, where it alone is meant. */
        actions: ({
          title: string
          href: string | null
          operation: string | null
          /** A text of it to copy, such as its SSH command. */
          copies: string | null
        })[]
        /** Only staff find what is terminated. It comes last, but for exact hits. */
        terminated: boolean
      })[]
    }
  }
  /** Which second factors the own account has, without their secrets */
  'second-factor.get': {
    result: {
      email: string
      hasPassword: boolean
      required: boolean
      /** When an owner must have one at the latest; null where nothing is due. */
      requiredFrom: string | null
      totp: {
        confirmedAt: string
      } | null
      passkeys: ({
        id: string
        name: string
        createdAt: string
        usedAt: string | null
        usedFrom: string | null
      })[]
      recoveryCodesLeft: number
    }
  }
  /** What was done to a server, by whom and from where */
  'servers.activity': {
    path: { id: string }
    query?: { cursor?: string; limit?: number }
    result: ActivityPage
  }
  /** Add an IPv4 address or an IPv6 prefix to a server */
  'servers.add-address': {
    path: { id: string }
    body: {
      version: 4 | 6
    }
    result: AddressAdded
  }
  /** Add traffic to a server for this month; one that was suspended or slowed down for it is released */
  'servers.add-bandwidth': {
    path: { id: string }
    body: {
      action: "add"
      gb: number
    }
    result: BandwidthAdded
  }
  /** Add a firewall rule to a server; at the end, or at a given place */
  'servers.add-firewall-rule': {
    path: { id: string }
    body: {
      name?: OneLineOfVisibleText0To100
      direction: "in" | "out"
      action: "accept" | "drop"
      /** A number is one of the protocol numbers of IP; any without one. */
      protocol?: "any" | "tcp" | "udp" | "icmp" | "icmpv6" | number
      /** Destination ports and ranges, such as 80 or 8000-8080, of TCP and UDP; every port without them. */
      ports?: (string)[]
      /** Addresses or CIDRs of the other side, of both versions; everybody without them. */
      remotes?: (string)[]
      /** 1 is the first; the end without it. */
      place?: number
      /** True: the change is made although nobody can begin an SSH connection afterwards. */
      acceptClosedSsh?: boolean
    }
    result: FirewallChanged
  }
  /** Whether the system inside a server has the addresses that it got by a move or an import */
  'servers.address-change': {
    path: { id: string }
    result: AddressChange
  }
  /** The addresses of a server with their ids: primary, extra, and floating ones that point to it */
  'servers.addresses': {
    path: { id: string }
    query?: { cursor?: string; limit?: number }
    result: ServerAddressPage
  }
  /** Confirm that a server is on the node that runs it: its record, made before it moved, follows it */
  'servers.adopt': {
    path: { id: string }
    body: {
      /** The node that runs it, to confirm. */
      nodeId: string
    }
    result: ServerAdopted
  }
  /** Let everybody reach services of a server: adds ready-made rules and switches its firewall on */
  'servers.allow-services': {
    path: { id: string }
    body: {
      services: ("ssh" | "http" | "https" | "rdp" | "ping" | "ping6")[]
    }
    result: FirewallChanged
  }
  /** The traffic of a server in this month, and what it may use */
  'servers.bandwidth': {
    path: { id: string }
    result: Bandwidth
  }
  /** Choose what a server boots from first; it takes effect when it is started or restarted in the panel */
  'servers.boot-order': {
    path: { id: string }
    body: {
      /** The device that it tries first when it starts; the other follows. */
      bootFirst: "disk" | "cd"
    }
    result: JobStarted
  }
  /** Take back a move to another location before its point of no return: the server stays as it is */
  'servers.cancel-relocation': {
    path: { id: string }
    result: JobStarted
  }
  /** Change the firewall of a server: switch it on or off, set its defaults, rules and shared firewalls */
  'servers.change-firewall': {
    path: { id: string }
    body: {
      enabled?: boolean
      defaultIn?: "accept" | "drop"
      defaultOut?: "accept" | "drop"
      /** All rules in their order; they replace the present ones. */
      rules?: (FirewallRuleBody)[]
      /** Shared firewalls, in order. */
      firewallIds?: (string)[]
      /** True: the change is made although nobody can begin an SSH connection afterwards. */
      acceptClosedSsh?: boolean
    }
    result: FirewallChanged
  }
  /** Change a firewall rule of a server; it can also move to another place */
  'servers.change-firewall-rule': {
    path: { id: string; ruleId: string }
    body: {
      name?: OneLineOfVisibleText0To100
      direction: "in" | "out"
      action: "accept" | "drop"
      /** A number is one of the protocol numbers of IP; any without one. */
      protocol?: "any" | "tcp" | "udp" | "icmp" | "icmpv6" | number
      /** Destination ports and ranges, such as 80 or 8000-8080, of TCP and UDP; every port without them. */
      ports?: (string)[]
      /** Addresses or CIDRs of the other side, of both versions; everybody without them. */
      remotes?: (string)[]
      /** 1 is the first; the present one without it. */
      place?: number
      /** True: the change is made although nobody can begin an SSH connection afterwards. */
      acceptClosedSsh?: boolean
    }
    result: FirewallChanged
  }
  /** Give a server to another customer, with its addresses and data; everybody else loses access at once */
  'servers.change-owner': {
    path: { id: string }
    body: {
      ownerId: string
    }
    result: Done
  }
  /** Give many servers to another customer, with their addresses and data */
  'servers.change-owner-many': {
    query?: { dryRun?: "true" | "false" }
    body: {
      /** These servers. */
      ids?: (string)[] | null
      filter?: ServerFilter | null
      /** So many were shown to whoever chose them; with another number nothing is done. */
      expected?: number | null
      /** The customer. */
      ownerId: string
    }
    result: BulkAction
  }
  /** Change the package of a server: the disk only grows, and addresses stay */
  'servers.change-package': {
    path: { id: string }
    body: {
      packageId: string
    }
    result: PackageChange
  }
  /** Give a server another primary address from the pools of its node; the one that it had rests */
  'servers.change-primary-address': {
    path: { id: string }
    query?: { dryRun?: "true" | "false" }
    body: {
      /** The version of the primary address. */
      version: 4 | 6
    }
    result: PrimaryAddressChange
  }
  /** Read the firewall counters of a server; its record has them once the node has answered */
  'servers.count-firewall': {
    path: { id: string }
    result: JobStarted
  }
  /** Order a server; without an image it waits for its owner to set it up */
  'servers.create': {
    query?: { dryRun?: "true" | "false" }
    body: {
      /** The customer. Null only with `dryRun=true`: as for a customer of yours who is still to be made. */
      ownerId: string | null
      packageId: string
      nodeGroupId: string
      imageId?: string | null
      hostname?: string | null
      name?: OneLineOfVisibleText1To64 | null
      access?: {
        mode: "password" | "ssh_keys"
        sshKeyIds?: (string)[]
      } | null
      scriptId?: string | null
      userData?: string | null
      billingServiceId?: OneLineOfVisibleText0To100 | null
      /** A placement group of the owner, which the server joins: it says to which node it may go. */
      placementGroupId?: string | null
      nodeId?: string | null
      /** It may take memory of the reserve of the location. */
      useReserve?: boolean | null
    }
    result: ServerOrdered
  }
  /** Detect the operating system of a running server: asks its guest agent */
  'servers.detect-os': {
    path: { id: string }
    result: JobStarted
  }
  /** Which other nodes say that they run a server, after a restore, and whether its record can follow it */
  'servers.elsewhere': {
    path: { id: string }
    result: ServerElsewhere
  }
  /** Leave rescue: the server boots its own system, and the rescue disk is deleted */
  'servers.exit-rescue': {
    path: { id: string }
    result: JobStarted
  }
  /** The servers you see as a spreadsheet, filtered and sorted as the list */
  'servers.export': {
    query?: { q?: string; status?: "provisioning" | "pending_setup" | "running" | "stopped" | "suspended" | "failed" | "terminated"; state?: "provisioning" | "pending_setup" | "running" | "stopped" | "suspended" | "failed" | "terminated" | "unreachable"; ownerId?: string; nodeId?: string; locationId?: string; packageId?: string; billingServiceId?: string; label?: string; externalId?: string; sort?: "name" | "-name" | "status" | "-status" | "package" | "-package" | "location" | "-location" | "owner" | "-owner" | "createdAt" | "-createdAt" }
    result: Response
  }
  /** Every server as a spreadsheet, filtered and sorted as the list */
  'servers.export-all': {
    query?: { q?: string; status?: "provisioning" | "pending_setup" | "running" | "stopped" | "suspended" | "failed" | "terminated"; state?: "provisioning" | "pending_setup" | "running" | "stopped" | "suspended" | "failed" | "terminated" | "unreachable"; ownerId?: string; nodeId?: string; locationId?: string; packageId?: string; billingServiceId?: string; label?: string; externalId?: string; sort?: "name" | "-name" | "status" | "-status" | "package" | "-package" | "location" | "-location" | "owner" | "-owner" | "createdAt" | "-createdAt"; resellerId?: string; ipPoolId?: string; recoverable?: "true" }
    result: Response
  }
  /** How full the disks of a server are, as its guest agent told it last */
  'servers.file-systems': {
    path: { id: string }
    result: FileSystems
  }
  /** The firewall of a server: its rules, those of shared firewalls, and what they counted */
  'servers.firewall': {
    path: { id: string }
    result: ServerFirewall
  }
  /** One server */
  'servers.get': {
    path: { id: string }
    result: Server
  }
  /** The machine on which a server was installed, its CD drive and its boot order */
  'servers.hardware': {
    path: { id: string }
    result: ServerHardware
  }
  /** What a server had right after its last installation, as its node saw it */
  'servers.installation-check': {
    path: { id: string }
    result: InstallationCheck
  }
  /** Change the labels of a server: free words; staff set their own, which only staff read */
  'servers.label': {
    path: { id: string }
    body: {
      /** These replace the present ones. */
      labels?: (OneLineOfVisibleText1To40)[] | null
      /** These are added. */
      add?: (OneLineOfVisibleText1To40)[] | null
      /** These are removed. */
      remove?: (OneLineOfVisibleText1To40)[] | null
    }
    result: Labels
  }
  /** Add and remove labels of staff on many servers */
  'servers.label-many': {
    query?: { dryRun?: "true" | "false" }
    body: {
      /** These servers. */
      ids?: (string)[] | null
      filter?: ServerFilter | null
      /** So many were shown to whoever chose them; with another number nothing is done. */
      expected?: number | null
      /** These are added. */
      add?: (OneLineOfVisibleText1To40)[] | null
      /** These are removed. */
      remove?: (OneLineOfVisibleText1To40)[] | null
    }
    result: BulkAction
  }
  /** The servers you see, newest first */
  'servers.list': {
    query?: { q?: string; status?: "provisioning" | "pending_setup" | "running" | "stopped" | "suspended" | "failed" | "terminated"; state?: "provisioning" | "pending_setup" | "running" | "stopped" | "suspended" | "failed" | "terminated" | "unreachable"; ownerId?: string; nodeId?: string; locationId?: string; packageId?: string; billingServiceId?: string; label?: string; externalId?: string; sort?: "name" | "-name" | "status" | "-status" | "package" | "-package" | "location" | "-location" | "owner" | "-owner" | "createdAt" | "-createdAt"; cursor?: string; limit?: number }
    result: ServerPage
  }
  /** Every server, newest first */
  'servers.list-all': {
    query?: { q?: string; status?: "provisioning" | "pending_setup" | "running" | "stopped" | "suspended" | "failed" | "terminated"; state?: "provisioning" | "pending_setup" | "running" | "stopped" | "suspended" | "failed" | "terminated" | "unreachable"; ownerId?: string; nodeId?: string; locationId?: string; packageId?: string; billingServiceId?: string; label?: string; externalId?: string; sort?: "name" | "-name" | "status" | "-status" | "package" | "-package" | "location" | "-location" | "owner" | "-owner" | "createdAt" | "-createdAt"; resellerId?: string; ipPoolId?: string; recoverable?: "true"; cursor?: string; limit?: number }
    result: ServerPage
  }
  /** Processor, memory, disk and network of a server over time, in steps from 10 seconds to a day */
  'servers.metrics': {
    path: { id: string }
    query?: { range?: "1h" | "24h" | "7d" | "30d" | "1y"; from?: string; to?: string; resolution?: "10" | "60" | "300" | "600" | "1800" | "3600" | "7200" | "21600" | "86400" }
    result: Metrics
  }
  /** Move a server to another node: with its disks, addresses, firewall and private networks */
  'servers.move': {
    path: { id: string }
    query?: { dryRun?: "true" | "false" }
    body: {
      /** Null: placement chooses. */
      nodeId?: string | null
      /** live: with its memory while it runs. near_live: its disks are copied while it runs, and it is shut down for what changed meanwhile. cold: it is shut down first. auto, and without it: live where nothing speaks against it, else near_live; what is off is copied. */
      mode?: "auto" | "live" | "near_live" | "cold"
      /** The most megabit per second that its copy takes; null: no more than the setting. */
      maxMbps?: number | null
      /** It may go where it gets new addresses: to nodes whose pools do not carry its own, also in locations to which its location allows moves. Its owner is told by mail. */
      readdress?: boolean
      /** It waits until this time, at most 30 days ahead, and is planned again then. Until then nothing is held for it. Null: now. */
      startsAt?: string | null
    }
    result: MoveStarted
  }
  /** To which nodes a server can be moved, how, and for how long it would be off */
  'servers.move-options': {
    path: { id: string }
    query?: { mode?: "auto" | "live" | "near_live" | "cold"; maxMbps?: number }
    result: MoveOptions
  }
  /** What an action would do to many servers, and why not to some of them */
  'servers.plan-many': {
    query?: { q?: string; status?: "provisioning" | "pending_setup" | "running" | "stopped" | "suspended" | "failed" | "terminated"; state?: "provisioning" | "pending_setup" | "running" | "stopped" | "suspended" | "failed" | "terminated" | "unreachable"; ownerId?: string; nodeId?: string; locationId?: string; packageId?: string; billingServiceId?: string; label?: string; externalId?: string; resellerId?: string; ipPoolId?: string; recoverable?: "true"; do?: "start" | "shutdown" | "off" | "restart" | "suspend" | "unsuspend" | "label" | "change-owner"; ids?: string; to?: string }
    result: BulkAction
  }
  /** Start, shut down, force off or restart */
  'servers.power': {
    path: { id: string }
    body: {
      action: "start" | "shutdown" | "off" | "restart"
    }
    result: JobStarted
  }
  /** Start, shut down, force off or restart many servers, a few at a time on each node */
  'servers.power-many': {
    query?: { dryRun?: "true" | "false" }
    body: {
      /** These servers. */
      ids?: (string)[] | null
      filter?: ServerFilter | null
      /** So many were shown to whoever chose them; with another number nothing is done. */
      expected?: number | null
      action: "start" | "shutdown" | "off" | "restart"
    }
    result: BulkAction
  }
  /** What a change of each primary address of a server means, and with which servers it can swap it */
  'servers.primary-address-options': {
    path: { id: string }
    result: {
      options: (PrimaryAddressOption)[]
    }
  }
  /** Switch the protection of a server on or off; while it is on, nobody reinstalls it, and its provider and billing terminate it with its undelete window only */
  'servers.protection': {
    path: { id: string }
    body: {
      protected: boolean
    }
    result: Protection
  }
  /** Reinstall a server with an image; everything on its disk is lost once the new system is in use */
  'servers.reinstall': {
    path: { id: string }
    body: {
      imageId: string
      hostname?: string
      access: {
        mode: "password" | "ssh_keys"
        sshKeyIds?: (string)[]
      }
      /** A startup script of the owner. It runs as it is now: a later change of it changes nothing. */
      scriptId?: string
      /** For cloud-init: begins with #cloud-config or #!, for Windows with #ps1 or rem cmd; at most 32 KiB. Name, access and network stay those of the order. */
      userData?: string
      /** True: where there is no space for both disks, the old system is deleted first. */
      discardFirst?: boolean
    }
    result: InstallationStarted
  }
  /** Whether the current system of a server survives a reinstallation that fails */
  'servers.reinstall-options': {
    path: { id: string }
    result: ReinstallOptions
  }
  /** Move a server to another location that is offered: it is shut down for it, and gets new addresses */
  'servers.relocate': {
    path: { id: string }
    body: {
      locationId: string
    }
    result: RelocationStarted
  }
  /** To which other locations the owner of a server may move it, and what that changes */
  'servers.relocation-options': {
    path: { id: string }
    result: RelocationOptions
  }
  /** Take an extra address from a server; it is free again when neither guest nor node has it */
  'servers.remove-address': {
    path: { id: string; addressId: string }
    result: JobStarted
  }
  /** Remove a firewall rule from a server; 409 where it was the last that let SSH in */
  'servers.remove-firewall-rule': {
    path: { id: string; ruleId: string }
    result: FirewallChanged
  }
  /** Rename a server; its hostname stays */
  'servers.rename': {
    path: { id: string }
    body: {
      name: OneLineOfVisibleText1To64
    }
    result: Server
  }
  /** Boot the rescue system of a server, with a password of its own; its disk is the second one there */
  'servers.rescue': {
    path: { id: string }
    result: RescueStarted
  }
  /** The rescue system that a server can boot */
  'servers.rescue-options': {
    path: { id: string }
    result: RescueOptions
  }
  /** Reset the root password of a server: at once where its guest agent answers, else at its next start */
  'servers.reset-password': {
    path: { id: string }
    body: Record<string, never>
    result: PasswordReset
  }
  /** Choose what happens when a server stops by itself: it is started again always, after a crash, or never */
  'servers.restart-policy': {
    path: { id: string }
    body: {
      restartPolicy: "always" | "on_failure" | "never"
    }
    result: JobStarted
  }
  /** Set the billing system's own identifier of a server; null removes it */
  'servers.set-billing-service': {
    path: { id: string }
    body: {
      billingServiceId: OneLineOfVisibleText0To100 | null
    }
    result: Server
  }
  /** Change the ISO in the CD drive of a server, or take it out; a running server sees it at once */
  'servers.set-iso': {
    path: { id: string }
    body: {
      /** Null takes it out. */
      isoId: string | null
    }
    result: JobStarted
  }
  /** Set up a server that waits for it: choose image, hostname and access */
  'servers.setup': {
    path: { id: string }
    body: {
      imageId: string
      hostname: string
      name?: OneLineOfVisibleText1To64
      access: {
        mode: "password" | "ssh_keys"
        sshKeyIds?: (string)[]
      }
      /** A startup script of the owner. It runs as it is now: a later change of it changes nothing. */
      scriptId?: string
      /** For cloud-init: begins with #cloud-config or #!, for Windows with #ps1 or rem cmd; at most 32 KiB. Name, access and network stay those of the order. */
      userData?: string
    }
    result: InstallationStarted
  }
  /** Let a server connect to mail servers, or not; null is what its package says */
  'servers.smtp': {
    path: { id: string }
    body: {
      allowed: boolean | null
    }
    result: SmtpChanged
  }
  /** Set the speed of a server; in force at once, and null is that of its package */
  'servers.speed': {
    path: { id: string }
    body: {
      /** Traffic to the server, in megabit per second. */
      portInMbps?: number | null
      /** Traffic from the server, in megabit per second. */
      portOutMbps?: number | null
      /** The share of the processor time of all its vCPUs. */
      cpuPercent?: number | null
    }
    result: JobStarted
  }
  /** The startup script of the last installation, and what it left */
  'servers.startup-script': {
    path: { id: string }
    result: StartupScript
  }
  /** Suspend a server: it is stopped and its owner kept out until it is unsuspended */
  'servers.suspend': {
    path: { id: string }
    body: {
      reason: OneLineOfVisibleText1To500
    }
    result: JobStarted
  }
  /** Suspend many servers */
  'servers.suspend-many': {
    query?: { dryRun?: "true" | "false" }
    body: {
      /** These servers. */
      ids?: (string)[] | null
      filter?: ServerFilter | null
      /** So many were shown to whoever chose them; with another number nothing is done. */
      expected?: number | null
      reason: OneLineOfVisibleText1To500
    }
    result: BulkAction
  }
  /** Swap the primary addresses of two servers of one owner */
  'servers.swap-primary-addresses': {
    path: { id: string }
    query?: { dryRun?: "true" | "false" }
    body: {
      /** The other server, whose node routes the address of this one as its own node routes that of the other. */
      serverId: string
      /** The version of the primary address. */
      version: 4 | 6
    }
    result: PrimaryAddressChange
  }
  /** Terminate a server: it ends at once, and its disk is deleted when the undelete window ends */
  'servers.terminate': {
    path: { id: string }
    query?: { immediately?: "true" | "false" }
    result: JobStarted
  }
  /** What happened to a server: changes, jobs, alerts and unexpected ends in one order, newest first */
  'servers.timeline': {
    path: { id: string }
    query?: { kind?: "change" | "job" | "alert" | "crash"; since?: string; until?: string; cursor?: string; limit?: number }
    result: TimelineEntryPage
  }
  /** Bring back a terminated server before its disk is deleted; customers only where a setting allows it */
  'servers.undelete': {
    path: { id: string }
    result: JobStarted
  }
  /** Unsuspend a server: its owner has it back as it was */
  'servers.unsuspend': {
    path: { id: string }
    result: JobStarted
  }
  /** Unsuspend many servers, a few at a time on each node */
  'servers.unsuspend-many': {
    query?: { dryRun?: "true" | "false" }
    body: {
      /** These servers. */
      ids?: (string)[] | null
      filter?: ServerFilter | null
      /** So many were shown to whoever chose them; with another number nothing is done. */
      expected?: number | null
    }
    result: BulkAction
  }
  /** Begin to sign in through the identity provider; answers a cookie, and the address to go to */
  'sessions.begin-with-provider': {
    body: {
      next?: string
      again?: boolean
      invitation?: string
    }
    result: {
      url: string
    }
  }
  /** Ways to finish the sign-in that this browser has begun; empty when there is none */
  'sessions.challenge': {
    result: {
      secondFactor: ("totp" | "passkey" | "recovery")[]
      until: string | null
    }
  }
  /** Confirm who you are: with the password, a code of the authenticator app, or a passkey. Good for 10 minutes */
  'sessions.confirm': {
    body: {
      password?: string
      code?: string
      passkey?: {
        id: string
        response: {
          clientDataJSON: string
        }
      }
    }
    result: {
      until: string
    }
  }
  /** What the browser needs to confirm with a passkey who you are */
  'sessions.confirm-passkey': {
    result: PasskeyOptions
  }
  /** Sign in with e-mail address and password; answers a cookie, or which second factor comes next */
  'sessions.create': {
    body: {
      email: string
      password: string
    }
    result: SignedIn
  }
  /** Sign out */
  'sessions.end': {
    result: Done
  }
  /** End one of the own sessions; its next call is refused */
  'sessions.end-one': {
    path: { id: string }
    result: Done
  }
  /** End every session of the own account but this one */
  'sessions.end-others': {
    result: Done
  }
  /** Sign in with what the identity provider sent the browser back with */
  'sessions.from-provider': {
    body: {
      code: string
      state: string
      iss?: string
    }
    result: SignedIn
  }
  /** Where the own account is signed in now, the newest sign-in first */
  'sessions.list': {
    query?: { cursor?: string; limit?: number }
    result: {
      data: ({
        id: string
        device: string
        from: string
        createdAt: string
        seenAt: string
        current: boolean
      })[]
      /** Null on the last page. */
      nextCursor: string | null
      /** Of all pages together. */
      total: number
    }
  }
  /** Sign in with a passkey alone; answers a cookie */
  'sessions.passkey': {
    body: {
      passkey: {
        id: string
        response: {
          clientDataJSON: string
        }
      }
    }
    result: SignedIn
  }
  /** What the browser needs to sign in with a passkey alone */
  'sessions.passkey-begin': {
    result: PasskeyOptions
  }
  /** What the button for signing in through the identity provider says; null when there is none */
  'sessions.provider': {
    result: {
      label: string | null
      /** Whether the account that is signed in may link it. */
      linkable: boolean
    }
  }
  /** Finish signing in: a code of the authenticator app, a recovery code, or a passkey */
  'sessions.second-factor': {
    body: {
      code?: string
      recoveryCode?: string
      passkey?: {
        id: string
        response: {
          clientDataJSON: string
        }
      }
    }
    result: SignedIn
  }
  /** What the browser needs to finish signing in with a passkey */
  'sessions.second-factor-passkey': {
    result: PasskeyOptions
  }
  /** The settings of the installation, each with its default */
  'settings.list': {
    result: Settings
  }
  /** Set one setting of the installation; null returns it to its default. A value that weakens a protection needs a person, and waits */
  'settings.set': {
    body: {
      name: OneLineOfVisibleText1To100
      value: number | boolean | null
    }
    result: Setting
  }
  /** Create the first staff account with the link from the journal */
  'setup.finish': {
    body: {
      token: string
      email: string
      name: OneLineOfVisibleText1To100
      password: string
    }
    result: SignedIn
  }
  /** A link that signs a customer in: good once, for 60 seconds. For billing systems whose customer is signed in there */
  'sign-in-links.create': {
    path: { id: string }
    result: {
      url: string
      expiresAt: string
    }
  }
  /** A link that signs a customer in and leads to one of their servers */
  'sign-in-links.create-for-server': {
    path: { id: string }
    result: {
      url: string
      expiresAt: string
    }
  }
  /** Sign in with a link from a billing system */
  'sign-in-links.use': {
    body: {
      token: string
    }
    result: SignedIn
  }
  /** The identity provider through which people may sign in, without its secret; and the redirect URL to enter there */
  'sign-in-provider.get': {
    result: {
      issuer: string | null
      clientId: string | null
      hasSecret: boolean
      for: ("staff" | "reseller" | "customer")[]
      label: string | null
      redirectUrl: string
    }
  }
  /** Turn signing in through the identity provider off; people who are signed in stay signed in */
  'sign-in-provider.remove': {
    result: Done
  }
  /** Let people sign in through an OpenID Connect provider. It is asked before anything is saved; without a secret the one that is kept stays */
  'sign-in-provider.set': {
    body: {
      issuer: string
      clientId: OneLineOfVisibleText1To200
      clientSecret?: string | null
      for: ("staff" | "reseller" | "customer")[]
      label: OneLineOfVisibleText1To60
    }
    result: {
      issuer: string | null
      clientId: string | null
      hasSecret: boolean
      for: ("staff" | "reseller" | "customer")[]
      label: string | null
      redirectUrl: string
    }
  }
  /** Take a snapshot of the disk of a server; it may run */
  'snapshots.create': {
    path: { id: string }
    body: {
      name: OneLineOfVisibleText1To80
      comment?: OneLineOfVisibleText0To200
    }
    result: SnapshotStarted
  }
  /** The snapshots of a server, newest first, and how many it may have */
  'snapshots.list': {
    path: { id: string }
    query?: { cursor?: string; limit?: number }
    result: {
      data: (Snapshot)[]
      nextCursor: string | null
      total: number
      /** As its package says; 0: none. */
      limit: number
      /** The space that is held for them beside the disk. */
      heldGb: number
      /** Why none can be taken now, in words; null: one can. */
      notTakeable: string | null
    }
  }
  /** Delete a snapshot; the disk and the other snapshots stay as they are */
  'snapshots.remove': {
    path: { id: string; snapshotId: string }
    result: JobStarted
  }
  /** Bring the disk of a server back to a snapshot; everything written since is lost */
  'snapshots.restore': {
    path: { id: string; snapshotId: string }
    result: JobStarted
  }
  /** Rename a snapshot or change its comment */
  'snapshots.update': {
    path: { id: string; snapshotId: string }
    body: {
      name?: OneLineOfVisibleText1To80
      comment?: OneLineOfVisibleText0To200
    }
    result: Snapshot
  }
  /** Choose what becomes of the other panel’s software on a node; it can be changed, and nothing happens by it */
  'source-removal.choose': {
    path: { id: string }
    body: {
      /** Of a node whose servers were adopted. */
      nodeId: string
      /** agent: call run then. manual: run the commands of the preview as root. */
      choice: "keep" | "agent" | "manual"
      /** Of the control server, where several of `rootKeys` could be its own. */
      controlKey?: string | null
    }
    result: SourceRemoval
  }
  /** Every file and service that a removal would touch on the adopted nodes, as a spreadsheet */
  'source-removal.export': {
    path: { id: string }
    query?: { nodeId?: string }
    result: Response
  }
  /** What becomes of the other panel’s software on each adopted node, and all that a removal would touch there */
  'source-removal.get': {
    path: { id: string }
    query?: { nodeId?: string }
    result: SourceRemovals
  }
  /** Put back everything that a removal moved and stopped on a node */
  'source-removal.restore': {
    path: { id: string }
    body: {
      /** Of a node whose servers were adopted. */
      nodeId: string
    }
    result: SourceRemovalJob
  }
  /** Let the agent of a node stop and move the other panel’s software; nothing is deleted, and all can be put back */
  'source-removal.run': {
    path: { id: string }
    body: {
      /** Of a node whose servers were adopted. */
      nodeId: string
    }
    result: SourceRemovalJob
  }
  /** Add a public key to a customer's account */
  'ssh-keys.create': {
    path: { id: string }
    body: {
      name?: OneLineOfVisibleText0To100
      publicKey: string
    }
    result: SshKey
  }
  /** A customer's public keys */
  'ssh-keys.list': {
    path: { id: string }
    query?: { cursor?: string; limit?: number }
    result: SshKeyPage
  }
  /** Remove a public key; servers that have it keep it */
  'ssh-keys.remove': {
    path: { id: string }
    result: Done
  }
  /** Rename a public key */
  'ssh-keys.update': {
    path: { id: string }
    body: {
      name: OneLineOfVisibleText1To100
    }
    result: SshKey
  }
  /** Add a member of staff, with a role that may do no more than you */
  'staff.create': {
    body: {
      email: string
      name: OneLineOfVisibleText1To100
      role?: OneLineOfVisibleText1To60
      password?: string
    }
    result: StaffMember
  }
  /** Disable a member of staff: sessions, tokens and links end at once and for good, what they did stays on record */
  'staff.disable': {
    path: { id: string }
    result: StaffMember
  }
  /** Enable a disabled member of staff again; their tokens stay revoked */
  'staff.enable': {
    path: { id: string }
    result: StaffMember
  }
  /** Everybody who runs this installation */
  'staff.list': {
    query?: { cursor?: string; limit?: number }
    result: StaffMemberPage
  }
  /** Remove a lost second factor from a member of staff */
  'staff.reset-second-factor': {
    path: { id: string }
    body: {
      reason: AReasonInWords1To500
    }
    result: Done
  }
  /** Change the name, the address or the role of a member of staff; with another role they sign in anew */
  'staff.update': {
    path: { id: string }
    body: {
      name?: OneLineOfVisibleText1To100
      email?: string
      role?: OneLineOfVisibleText1To60
    }
    result: StaffMember
  }
  /** Whether it is up, and which version it is */
  'status.get': {
    result: {
      status: "ok"
      product: string
      version: string
      time: string
      startedAt: string
    }
  }
  /** How many orders of each package and GPU offer each location takes now, and what binds the number */
  'stock.get': {
    query?: { packageId?: string; offerId?: string; nodeGroupId?: string; ownerId?: string }
    result: Stock
  }
  /** How many servers of a size each location takes now, whether or not a package has that size */
  'stock.of-size': {
    query?: { memoryMb?: number; diskGb?: number; ipv4?: number; ipv6Prefix?: number; storageClass?: string }
    result: StockOfSize
  }
  /** How full each storage pool of a node was over time, in percent */
  'storage-pools.fill': {
    path: { id: string }
    query?: { range?: "24h" | "30d" | "1y" }
    result: StorageFill
  }
  /** The storage pools of a node by name: how full they are, and what is promised in them */
  'storage-pools.list': {
    path: { id: string }
    query?: { cursor?: string; limit?: number }
    result: NodeStoragePoolPage
  }
  /** Close a storage pool for the disks of new servers, or set its overcommit limit */
  'storage-pools.update': {
    path: { id: string }
    body: {
      /** It takes the disks of new servers. */
      open?: boolean
      /** The overcommit limit, of its size; 100: all of it. */
      overcommitPercent?: number
    }
    result: NodeStoragePool
  }
  /** Leave the account that a support session is in */
  'support.close': {
    result: Done
  }
  /** Work in a customer's account for up to 60 minutes; the reason and every change are in the audit log */
  'support.open': {
    path: { id: string }
    body: {
      reason: AReasonInWords1To500
    }
    result: {
      accountId: string
      until: string
      home: string
    }
  }
  /** Accept an invitation with the account that has its address */
  'team.accept': {
    body: {
      token: string
    }
    result: {
      id: string
      home: string
    }
  }
  /** What an invitation is for, to whoever has its link */
  'team.invitation': {
    query?: { token?: string }
    result: {
      owner: {
        name: string
      }
      email: string
      role: "view" | "operate" | "manage"
      server: {
        name: string
      } | null
      expiresAt: string
      next: "accept" | "sign_in" | "make_account" | "other_account"
    }
  }
  /** Invite someone by mail to one of your servers, or to all of them */
  'team.invite': {
    body: {
      email: string
      role: "view" | "operate" | "manage"
      serverId?: string | null
    }
    result: TeamMember
  }
  /** Accept an invitation with a new account; answers a cookie */
  'team.join': {
    body: {
      token: string
      name: OneLineOfVisibleText1To100
      password: string
    }
    result: SignedIn
  }
  /** Give up access to what somebody shares with you */
  'team.leave': {
    path: { id: string }
    result: Done
  }
  /** Who has access to your servers, and who is invited, newest first */
  'team.list': {
    query?: { cursor?: string; limit?: number }
    result: TeamMemberPage
  }
  /** What others share with you, newest first */
  'team.memberships': {
    query?: { cursor?: string; limit?: number }
    result: MembershipPage
  }
  /** End somebody's access at once, or withdraw an invitation */
  'team.remove': {
    path: { id: string }
    result: Done
  }
  /** Send an invitation again, with a new link for another seven days; the old link ends */
  'team.resend': {
    path: { id: string }
    result: TeamMember
  }
  /** Change the role of a member of your team; it applies from their next call */
  'team.update': {
    path: { id: string }
    body: {
      role: "view" | "operate" | "manage"
    }
    result: TeamMember
  }
  /** Create a token for your own account; it is shown only once */
  'tokens.create': {
    body: {
      name: OneLineOfVisibleText1To100
      preset?: "billing" | "reseller-billing"
      scopes?: (string)[]
      allow?: (string)[]
      expiresAt?: string | null
    }
    result: {
      id: string
      token: string
      scopes: (string)[]
      expiresAt: string | null
    }
  }
  /** The own tokens, without their values: when and from where each was last used */
  'tokens.list': {
    query?: { cursor?: string; limit?: number }
    result: TokenPage
  }
  /** Revoke a token at once, also its previous value */
  'tokens.revoke': {
    path: { id: string }
    result: Done
  }
  /** Rotate a token: a new value, shown only once; the old one is accepted a while longer */
  'tokens.rotate': {
    path: { id: string }
    body: {
      overlapHours?: number
    }
    result: {
      id: string
      token: string
      previousUntil: string | null
      expiresAt: string | null
    }
  }
  /** Begin adding an authenticator app: answers its secret, once, as text, address and QR code (SVG) */
  'totp.begin': {
    result: {
      secret: string
      uri: string
      qr: string
    }
  }
  /** Finish adding the authenticator app with one of its codes; signing in asks for one from now on. Ends the other sessions */
  'totp.confirm': {
    body: {
      code: string
    }
    result: {
      recoveryCodes: (string)[] | null
    }
  }
  /** Remove the authenticator app; ends the other sessions */
  'totp.remove': {
    result: Done
  }
  /** The heaviest users of traffic in an hour, a day or a month, and how much there was */
  'traffic.heaviest': {
    query?: { per?: "hour" | "day" | "month"; at?: string; nodeId?: string; limit?: number }
    result: TrafficUsers
  }
  /** Cancel a move before its point of no return: the server runs on where it was, and its copy is deleted */
  'transfers.cancel': {
    path: { id: string }
    body: {
      reason?: OneLineOfVisibleText0To200
    }
    result: Transfer
  }
  /** The same list as a spreadsheet */
  'transfers.export': {
    query?: { nodeId?: string; serverId?: string; server?: string; state?: "queued" | "copying" | "switching" | "finished" | "failed" | "cancelled"; mode?: "live" | "near_live" | "cold" | "reassigned"; since?: string; until?: string }
    result: Response
  }
  /** Moves of the last 30 days in figures: how long servers were off, and whether that was announced */
  'transfers.figures': {
    result: TransferFigures
  }
  /** One move of a server; follow it until `finishedAt` is set */
  'transfers.get': {
    path: { id: string }
    result: Transfer
  }
  /** Moves of servers between nodes, newest first */
  'transfers.list': {
    query?: { nodeId?: string; serverId?: string; server?: string; state?: "queued" | "copying" | "switching" | "finished" | "failed" | "cancelled"; mode?: "live" | "near_live" | "cold" | "reassigned"; since?: string; until?: string; cursor?: string; limit?: number }
    result: TransferPage
  }
  /** The steps of one move with their times, and the rate of the copy at work */
  'transfers.progress': {
    path: { id: string }
    result: TransferProgress
  }
  /** Change the limit of a move on its way: the copy at work keeps it within seconds, and goes on where it is */
  'transfers.update': {
    path: { id: string }
    body: {
      /** The most megabit per second that its copy takes; null: no more than the setting. */
      maxMbps: number | null
    }
    result: Transfer
  }
  /** Verify a release in the folder, and say what an update of the controller to it would do */
  'updates.check': {
    body: {
      version: string
    }
    result: UpdateCheck
  }
  /** Download the release that was found at the address into the folder of releases */
  'updates.download': {
    result: Done
  }
  /** Updates of the controller: what runs, releases that are there, one under way, and those of the past */
  'updates.get': {
    result: Updates
  }
  /** Read the signed manifest of the release at the address that is set */
  'updates.look': {
    result: Done
  }
  /** Set the address of the release file that is asked for when somebody looks; null turns it off */
  'updates.set-source': {
    body: {
      url: string | null
    }
    result: Done
  }
  /** Update the controller to a release in the folder. Root of its machine verifies the release by itself, replaces the program, watches it, and puts program and database back when something is wrong */
  'updates.start': {
    body: {
      version: string
    }
    result: Done
  }
  /** Send a part of a release file into the folder of releases; the last part has it verified */
  'updates.upload': {
    body: {
      file: string
      /** Of the whole file. */
      totalBytes: number
      /** Where in the file this part begins. */
      from: number
      content: string
    }
    result: UpdateUpload
  }
  /** Withdraw an update that waits; one that root has begun comes to its end */
  'updates.withdraw': {
    result: Done
  }
  /** The usage of a month: the total of each account, by package and by GPU offer */
  'usage.accounts': {
    query?: { month?: string; ownerId?: string; resellerId?: string; cursor?: string; limit?: number }
    result: UsageAccountPage
  }
  /** The extra and floating addresses of a month: a line for each and its owner, released ones included */
  'usage.addresses': {
    query?: { month?: string; ownerId?: string; resellerId?: string; cursor?: string; limit?: number }
    result: AddressUsePage
  }
  /** The extra and floating addresses of a month as a spreadsheet: one line for each and its owner */
  'usage.addresses-export': {
    query?: { month?: string; ownerId?: string; resellerId?: string }
    result: Response
  }
  /** The usage of a month as a spreadsheet: one line for each server and owner */
  'usage.export': {
    query?: { month?: string; ownerId?: string; resellerId?: string }
    result: Response
  }
  /** The GPU instances of a month as a spreadsheet: one line for each instance and owner */
  'usage.gpu-export': {
    query?: { month?: string; ownerId?: string; resellerId?: string }
    result: Response
  }
  /** The usage of every GPU instance in a period, those deleted in the last 400 days included */
  'usage.gpu-instances': {
    query?: { from?: string; to?: string; owner_id?: string; cursor?: string; limit?: number }
    result: GpuUsagePage
  }
  /** The GPU instances of a month: how long each was held and ran, deleted ones included */
  'usage.gpu-report': {
    query?: { month?: string; ownerId?: string; resellerId?: string; cursor?: string; limit?: number }
    result: GpuUsagePage
  }
  /** The intervals of the ledger in a month, newest first: every number of the report is a sum of them */
  'usage.intervals': {
    query?: { month?: string; ownerId?: string; resellerId?: string; serverId?: string; cursor?: string; limit?: number }
    result: UsageIntervalPage
  }
  /** What a server was in a period, with every interval */
  'usage.of-server': {
    path: { id: string }
    query?: { from?: string; to?: string }
    result: ServerUsage
  }
  /** Compare a billing system’s list of services with servers and GPU instances, and answer what differs */
  'usage.reconcile': {
    body: {
      services?: (ListedService)[]
      /** In place of services: lines with a head that names columns of serverId, instanceId, billingServiceId, ownerExternalId, billingProductId, state. */
      csv?: string
    }
    result: Reconciliation
  }
  /** The usage of a month: a line for each server and owner, terminated servers included */
  'usage.report': {
    query?: { month?: string; ownerId?: string; resellerId?: string; cursor?: string; limit?: number }
    result: UsageLinePage
  }
  /** The usage of a month by extra volumes: a line for each, deleted ones included */
  'usage.volumes': {
    query?: { month?: string; ownerId?: string; cursor?: string; limit?: number }
    result: VolumeUsePage
  }
  /** Attach an extra volume to a server of its owner on the same machine; another one that has it loses it first */
  'volumes.attach': {
    path: { id: string }
    body: {
      serverId: string
    }
    result: VolumeMoved
  }
  /** Make an extra volume and attach it to a server; it is empty, and the server may run */
  'volumes.create': {
    path: { id: string }
    body: {
      name: OneLineOfVisibleText1To60
      sizeGb: number
    }
    result: VolumeStarted
  }
  /** Delete an extra volume that no server has; everything on it is lost at once */
  'volumes.delete': {
    path: { id: string }
    result: VolumeDeleted
  }
  /** Detach an extra volume from its server; unmount it in the server first */
  'volumes.detach': {
    path: { id: string }
    result: VolumeMoved
  }
  /** One extra volume */
  'volumes.get': {
    path: { id: string }
    result: Volume
  }
  /** Enlarge an extra volume, also under a running server; it never shrinks */
  'volumes.grow': {
    path: { id: string }
    body: {
      sizeGb: number
    }
    result: VolumeGrows
  }
  /** Extra volumes, newest first, with the server that has each */
  'volumes.list': {
    query?: { ownerId?: string; resellerId?: string; nodeId?: string; q?: string; cursor?: string; limit?: number }
    result: VolumePage
  }
  /** The extra volumes of a server, and how much of them its owner may have */
  'volumes.of-server': {
    path: { id: string }
    query?: { cursor?: string; limit?: number }
    result: {
      data: (Volume)[]
      nextCursor: string | null
      total: number
      /** What comes with all servers of the owner, by their packages. */
      limitGb: number
      /** Of it, by volumes of all of them and by detached ones. */
      usedGb: number
      /** Why none can be made now, in words; null: one can. */
      notMakeable: string | null
    }
  }
  /** Rename an extra volume */
  'volumes.update': {
    path: { id: string }
    body: {
      name: OneLineOfVisibleText1To60
    }
    result: Volume
  }
  /** Confirm a change that weakens a protection and that another person asked for: it takes effect at once */
  'weakenings.confirm': {
    path: { id: string }
    result: Weakening
  }
  /** The changes that weaken a protection and wait, the newest first */
  'weakenings.list': {
    query?: { cursor?: string; limit?: number }
    result: WeakeningPage
  }
  /** Take back a change that weakens a protection and that waits; the protection stays as it is */
  'weakenings.take-back': {
    path: { id: string }
    result: Weakening
  }
  /** Add a webhook; its secret is shown only once */
  'webhooks.create': {
    body: {
      /** What you call it; null: the host of its address. */
      name?: OneLineOfVisibleText1To60 | null
      /** Begins with https:// and is reachable by everybody. */
      url: string
      /** Types of events, from `GET /event-types`; `*` is every type that you may receive. */
      events: (string)[]
    }
    result: NewWebhook
  }
  /** The deliveries of a webhook, newest first: the last 200 of an account, 2000 of the platform */
  'webhooks.deliveries': {
    path: { id: string }
    query?: { state?: "waiting" | "delivered" | "failed"; cursor?: string; limit?: number }
    result: WebhookDeliveryPage
  }
  /** One delivery, with the request and the response of each attempt */
  'webhooks.delivery': {
    path: { id: string }
    result: WebhookDeliveryDetails
  }
  /** One webhook */
  'webhooks.get': {
    path: { id: string }
    result: Webhook
  }
  /** The webhooks of the account, or for staff those of the platform */
  'webhooks.list': {
    query?: { cursor?: string; limit?: number }
    result: WebhookPage
  }
  /** Pause a webhook: nothing more is queued for it, and what waits is held */
  'webhooks.pause': {
    path: { id: string }
    result: Webhook
  }
  /** How many deliveries of all webhooks of the account wait, and how many were dropped */
  'webhooks.queue': {
    result: WebhookQueue
  }
  /** Send the same event once more, now; it is never retried */
  'webhooks.redeliver': {
    path: { id: string }
    result: {
      deliveryId: string
    }
  }
  /** Delete a webhook, its log and what waits for it */
  'webhooks.remove': {
    path: { id: string }
    result: Done
  }
  /** Resume a webhook: what was held is delivered, and events are queued from now on */
  'webhooks.resume': {
    path: { id: string }
    result: Webhook
  }
  /** Create a new secret, shown only once; for 24 hours deliveries are signed with both */
  'webhooks.rotate-secret': {
    path: { id: string }
    result: {
      id: string
      secret: string
      previousUntil: string
    }
  }
  /** Send a test delivery, also while the webhook is paused; it is never retried */
  'webhooks.test': {
    path: { id: string }
    result: {
      deliveryId: string
    }
  }
  /** Change the name, the address or the events of a webhook; what is not sent stays as it is */
  'webhooks.update': {
    path: { id: string }
    body: {
      /** What you call it; null: the host of its address. */
      name?: OneLineOfVisibleText1To60 | null
      /** Begins with https:// and is reachable by everybody. */
      url?: string
      /** Types of events, from `GET /event-types`; `*` is every type that you may receive. */
      events?: (string)[]
    }
    result: Webhook
  }
}

/** Lists that go on behind their first page. */
export type ListId =
  | 'account.activity'
  | 'addresses.history'
  | 'alerts.list'
  | 'announcements.list'
  | 'announcements.list-all'
  | 'audit.list'
  | 'backup-plans.list'
  | 'backup-repositories.list'
  | 'backup-targets.list'
  | 'backups.list'
  | 'backups.list-all'
  | 'brakes.list'
  | 'bulk-actions.list'
  | 'bulk-actions.servers'
  | 'customers.list'
  | 'drains.list'
  | 'events.list'
  | 'firewalls.list'
  | 'floating-ips.list'
  | 'gpu-images.list'
  | 'gpu-instances.list'
  | 'gpu-instances.list-all'
  | 'gpu-instances.offers'
  | 'gpu-instances.timeline'
  | 'gpu-offers.list'
  | 'gpus.list'
  | 'identities.list'
  | 'images.list'
  | 'images.offered'
  | 'imports.access'
  | 'imports.changes'
  | 'imports.hypervisors'
  | 'imports.list'
  | 'imports.list-moves'
  | 'imports.owners'
  | 'imports.packages'
  | 'imports.ranges'
  | 'imports.report'
  | 'imports.servers'
  | 'imports.verified'
  | 'isos.list'
  | 'jobs.list'
  | 'locations.list'
  | 'messages.list'
  | 'messages.recipients'
  | 'networks.list'
  | 'nodes.list'
  | 'notices.list'
  | 'own-images.list'
  | 'packages.list'
  | 'placement-groups.list'
  | 'pools.addresses'
  | 'pools.history'
  | 'pools.list'
  | 'pools.nodes'
  | 'reseller.customers'
  | 'resellers.list'
  | 'roles.list'
  | 'roles.tokens'
  | 'roll-outs.list'
  | 'rolling.list'
  | 'saved-filters.list'
  | 'scripts.list'
  | 'servers.activity'
  | 'servers.addresses'
  | 'servers.list'
  | 'servers.list-all'
  | 'servers.timeline'
  | 'sessions.list'
  | 'snapshots.list'
  | 'ssh-keys.list'
  | 'staff.list'
  | 'storage-pools.list'
  | 'team.list'
  | 'team.memberships'
  | 'tokens.list'
  | 'transfers.list'
  | 'usage.accounts'
  | 'usage.addresses'
  | 'usage.gpu-instances'
  | 'usage.gpu-report'
  | 'usage.intervals'
  | 'usage.report'
  | 'usage.volumes'
  | 'volumes.list'
  | 'volumes.of-server'
  | 'weakenings.list'
  | 'webhooks.deliveries'
  | 'webhooks.list'

/** Method, path, and whether it takes an Idempotency-Key. */
export const routes: { readonly [Id in keyof Operations]: readonly [string, string, boolean] } = {
  'account.activity': ['GET', '/account/activity', false],
  'account.confirm-email': ['POST', '/account/email/confirm', false],
  'account.email': ['PUT', '/account/email', false],
  'account.get': ['GET', '/account', false],
  'account.password': ['PUT', '/account/password', false],
  'account.update': ['PATCH', '/account', false],
  'addresses.export': ['GET', '/admin/addresses/{address}/history.csv', false],
  'addresses.get': ['GET', '/admin/addresses/{address}', false],
  'addresses.history': ['GET', '/admin/addresses/{address}/history', false],
  'addresses.statement': ['GET', '/admin/addresses/{address}/statement.txt', false],
  'alerts.create': ['POST', '/servers/{id}/alerts', true],
  'alerts.list': ['GET', '/servers/{id}/alerts', false],
  'alerts.remove': ['DELETE', '/alerts/{id}', false],
  'alerts.update': ['PATCH', '/alerts/{id}', false],
  'announcements.create': ['POST', '/admin/announcements', false],
  'announcements.list': ['GET', '/announcements', false],
  'announcements.list-all': ['GET', '/admin/announcements', false],
  'announcements.remove': ['DELETE', '/admin/announcements/{id}', false],
  'announcements.update': ['PATCH', '/admin/announcements/{id}', false],
  'audit.export-csv': ['GET', '/admin/audit.csv', false],
  'audit.export-jsonl': ['GET', '/admin/audit.jsonl', false],
  'audit.list': ['GET', '/admin/audit', false],
  'audit.verify': ['GET', '/admin/audit/verify', false],
  'backup-plans.create': ['POST', '/admin/backup-plans', false],
  'backup-plans.list': ['GET', '/admin/backup-plans', false],
  'backup-plans.update': ['PATCH', '/admin/backup-plans/{id}', false],
  'backup-repositories.list': ['GET', '/admin/backup-repositories', false],
  'backup-targets.add-local': ['POST', '/admin/backup-targets/local', false],
  'backup-targets.add-rest': ['POST', '/admin/backup-targets/rest', false],
  'backup-targets.add-s3': ['POST', '/admin/backup-targets/s3', false],
  'backup-targets.add-sftp': ['POST', '/admin/backup-targets/sftp', false],
  'backup-targets.list': ['GET', '/admin/backup-targets', false],
  'backup-targets.make-default': ['POST', '/admin/backup-targets/{id}/actions/make-default', false],
  'backup-targets.remove': ['DELETE', '/admin/backup-targets/{id}', false],
  'backup-targets.remove-node-login': ['POST', '/admin/backup-targets/{id}/actions/remove-node-login', false],
  'backup-targets.set-node-login': ['POST', '/admin/backup-targets/{id}/actions/set-node-login', false],
  'backup-targets.test': ['POST', '/admin/backup-targets/{id}/actions/test', true],
  'backup-targets.update': ['PATCH', '/admin/backup-targets/{id}', false],
  'backups.calendar': ['GET', '/servers/{id}/backups/calendar', false],
  'backups.create': ['POST', '/servers/{id}/backups', true],
  'backups.delete': ['DELETE', '/backups/{id}', true],
  'backups.download-file': ['GET', '/backups/{id}/files/content', false],
  'backups.drill': ['POST', '/admin/backups/{id}/actions/drill', true],
  'backups.drills': ['GET', '/admin/restore-drills', false],
  'backups.get': ['GET', '/backups/{id}', false],
  'backups.list': ['GET', '/servers/{id}/backups', false],
  'backups.list-all': ['GET', '/backups', false],
  'backups.list-files': ['GET', '/backups/{id}/files', false],
  'backups.plan': ['GET', '/servers/{id}/backups/plan', false],
  'backups.recovery-sheet': ['POST', '/account/recovery-sheet', false],
  'backups.remove': ['DELETE', '/servers/{id}/backups/{backupId}', true],
  'backups.restore': ['POST', '/servers/{id}/backups/{backupId}/actions/restore', true],
  'backups.restore-to-new-server': ['POST', '/backups/{id}/actions/restore-to-new-server', true],
  'backups.set-plan': ['PUT', '/servers/{id}/backups/plan', true],
  'balance.apply': ['POST', '/admin/node-groups/{id}/actions/balance', false],
  'balance.get': ['GET', '/admin/node-groups/{id}/balance', false],
  'billing.service': ['GET', '/billing/service', false],
  'billing.test-connection': ['GET', '/billing/connection', false],
  'brakes.list': ['GET', '/admin/brakes', false],
  'brakes.refuse': ['POST', '/admin/brakes/{id}/actions/refuse', false],
  'brakes.release': ['POST', '/admin/brakes/{id}/actions/release', false],
  'branding.get': ['GET', '/admin/settings/branding', false],
  'branding.remove-logo': ['DELETE', '/admin/settings/branding/logo', false],
  'branding.set': ['PUT', '/admin/settings/branding', false],
  'branding.set-logo': ['PUT', '/admin/settings/branding/logo', false],
  'bulk-actions.cancel': ['POST', '/admin/bulk-actions/{id}/actions/cancel', false],
  'bulk-actions.get': ['GET', '/admin/bulk-actions/{id}', false],
  'bulk-actions.list': ['GET', '/admin/bulk-actions', false],
  'bulk-actions.servers': ['GET', '/admin/bulk-actions/{id}/servers', false],
  'choices.find': ['GET', '/admin/choices', false],
  'consoles.create-ticket': ['POST', '/servers/{id}/console', false],
  'controller-backups.configure': ['PUT', '/admin/controller-backups', false],
  'controller-backups.get': ['GET', '/admin/controller-backups', false],
  'controller-backups.make': ['POST', '/admin/controller-backups/actions/make', false],
  'cpu-baseline.adopt': ['POST', '/admin/node-groups/{id}/actions/adopt-cpu-baseline', false],
  'cpu-baseline.get': ['GET', '/admin/node-groups/{id}/cpu-baseline', false],
  'cpu-baseline.set': ['PUT', '/admin/node-groups/{id}/cpu-baseline', false],
  'customers.create': ['POST', '/admin/customers', true],
  'customers.export': ['GET', '/admin/customers.csv', false],
  'customers.get': ['GET', '/customers/{id}', false],
  'customers.invite': ['POST', '/customers/{id}/actions/invite', false],
  'customers.list': ['GET', '/admin/customers', false],
  'customers.lock': ['POST', '/customers/{id}/actions/lock', false],
  'customers.reset-second-factor': ['POST', '/customers/{id}/actions/reset-second-factor', false],
  'customers.set-allowance': ['PUT', '/customers/{id}/allowance', false],
  'customers.set-gpu-limit': ['PUT', '/customers/{id}/gpu-limit', false],
  'customers.unlock': ['POST', '/customers/{id}/actions/unlock', false],
  'customers.update': ['PATCH', '/customers/{id}', false],
  'drains.cancel': ['POST', '/admin/drains/{id}/actions/cancel', false],
  'drains.evacuate': ['POST', '/admin/drains/{id}/actions/evacuate', true],
  'drains.get': ['GET', '/admin/drains/{id}', false],
  'drains.leave': ['POST', '/admin/drains/{id}/actions/leave', false],
  'drains.list': ['GET', '/admin/drains', false],
  'drains.pause': ['POST', '/admin/drains/{id}/actions/pause', false],
  'drains.resume': ['POST', '/admin/drains/{id}/actions/resume', false],
  'drains.retry': ['POST', '/admin/drains/{id}/actions/retry', false],
  'drains.send': ['POST', '/admin/drains/{id}/actions/send', false],
  'drains.start': ['POST', '/admin/nodes/{id}/actions/drain', true],
  'events.get': ['GET', '/events/{id}', false],
  'events.list': ['GET', '/events', false],
  'events.types': ['GET', '/event-types', false],
  'firewalls.add-rule': ['POST', '/firewalls/{id}/rules', false],
  'firewalls.create': ['POST', '/customers/{id}/firewalls', false],
  'firewalls.get': ['GET', '/firewalls/{id}', false],
  'firewalls.list': ['GET', '/customers/{id}/firewalls', false],
  'firewalls.remove': ['DELETE', '/firewalls/{id}', false],
  'firewalls.remove-rule': ['DELETE', '/firewalls/{id}/rules/{ruleId}', false],
  'firewalls.update': ['PATCH', '/firewalls/{id}', false],
  'floating-ips.assign': ['POST', '/floating-ips/{id}/actions/assign', true],
  'floating-ips.create': ['POST', '/customers/{id}/floating-ips', true],
  'floating-ips.get': ['GET', '/floating-ips/{id}', false],
  'floating-ips.list': ['GET', '/floating-ips', false],
  'floating-ips.release': ['DELETE', '/floating-ips/{id}', false],
  'floating-ips.unassign': ['POST', '/floating-ips/{id}/actions/unassign', true],
  'floating-ips.update': ['PATCH', '/floating-ips/{id}', false],
  'gpu-images.create': ['POST', '/admin/gpu-images', false],
  'gpu-images.list': ['GET', '/admin/gpu-images', false],
  'gpu-images.update': ['PATCH', '/admin/gpu-images/{id}', false],
  'gpu-instances.create': ['POST', '/admin/gpu-instances', true],
  'gpu-instances.create-for-reseller': ['POST', '/reseller/gpu-instances', true],
  'gpu-instances.delete': ['DELETE', '/admin/gpu-instances/{id}', true],
  'gpu-instances.delete-own': ['DELETE', '/gpu-instances/{id}', true],
  'gpu-instances.download-logs': ['GET', '/gpu-instances/{id}/logs.txt', false],
  'gpu-instances.get': ['GET', '/gpu-instances/{id}', false],
  'gpu-instances.idle-stop': ['GET', '/gpu-instances/{id}/idle-stop', false],
  'gpu-instances.list': ['GET', '/gpu-instances', false],
  'gpu-instances.list-all': ['GET', '/admin/gpu-instances', false],
  'gpu-instances.logs': ['GET', '/gpu-instances/{id}/logs', false],
  'gpu-instances.metrics': ['GET', '/gpu-instances/{id}/metrics', false],
  'gpu-instances.offers': ['GET', '/gpu-offers', false],
  'gpu-instances.order': ['POST', '/gpu-instances', true],
  'gpu-instances.plan-many': ['GET', '/admin/gpu-instances/bulk-plan', false],
  'gpu-instances.power': ['POST', '/gpu-instances/{id}/actions/power', true],
  'gpu-instances.power-many': ['POST', '/admin/gpu-instances/actions/power', true],
  'gpu-instances.rebuild': ['POST', '/gpu-instances/{id}/actions/rebuild', true],
  'gpu-instances.rename': ['PATCH', '/gpu-instances/{id}', false],
  'gpu-instances.restart-policy': ['PUT', '/gpu-instances/{id}/restart-policy', false],
  'gpu-instances.set-billing-service': ['PATCH', '/gpu-instances/{id}/billing', false],
  'gpu-instances.set-environment': ['PUT', '/gpu-instances/{id}/environment', false],
  'gpu-instances.set-http-ports': ['PUT', '/gpu-instances/{id}/http-ports', false],
  'gpu-instances.set-idle-stop': ['PUT', '/gpu-instances/{id}/idle-stop', false],
  'gpu-instances.set-ssh-keys': ['PUT', '/gpu-instances/{id}/ssh-keys', false],
  'gpu-instances.suspend': ['POST', '/admin/gpu-instances/{id}/suspend', true],
  'gpu-instances.suspend-many': ['POST', '/admin/gpu-instances/actions/suspend', true],
  'gpu-instances.timeline': ['GET', '/gpu-instances/{id}/timeline', false],
  'gpu-instances.unsuspend': ['POST', '/admin/gpu-instances/{id}/unsuspend', true],
  'gpu-instances.unsuspend-many': ['POST', '/admin/gpu-instances/actions/unsuspend', true],
  'gpu-instances.usage': ['GET', '/gpu-instances/{id}/usage', false],
  'gpu-offers.create': ['POST', '/admin/gpu-offers', false],
  'gpu-offers.list': ['GET', '/admin/gpu-offers', false],
  'gpu-offers.update': ['PATCH', '/admin/gpu-offers/{id}', false],
  'gpus.check': ['POST', '/admin/gpu-cards/{id}/actions/check', true],
  'gpus.forget-card': ['DELETE', '/admin/gpu-cards/{id}', false],
  'gpus.list': ['GET', '/admin/gpus', false],
  'gpus.update-card': ['PATCH', '/admin/gpu-cards/{id}', false],
  'gpus.update-host': ['PATCH', '/admin/nodes/{id}/gpu-host', false],
  'host.get': ['GET', '/admin/panel-host', false],
  'identities.begin-link': ['POST', '/account/identities/begin', false],
  'identities.link': ['POST', '/account/identities', false],
  'identities.list': ['GET', '/account/identities', false],
  'identities.remove': ['DELETE', '/account/identities/{id}', false],
  'images.add': ['POST', '/admin/images', false],
  'images.builds': ['GET', '/admin/images/{id}/builds', false],
  'images.import': ['POST', '/admin/images/import', false],
  'images.list': ['GET', '/admin/images', false],
  'images.offered': ['GET', '/images', false],
  'images.refresh': ['POST', '/admin/images/{id}/actions/refresh', false],
  'images.remove': ['DELETE', '/admin/images/{id}', false],
  'images.update': ['PATCH', '/admin/images/{id}', false],
  'import-servers.accept': ['POST', '/admin/migration-servers/{id}/actions/accept', false],
  'import-servers.cancel': ['POST', '/admin/migration-servers/{id}/actions/cancel', false],
  'import-servers.check': ['POST', '/admin/migration-servers/{id}/actions/check', false],
  'import-servers.move': ['GET', '/admin/migration-servers/{id}/move', false],
  'import-servers.retry': ['POST', '/admin/migration-servers/{id}/actions/retry', false],
  'import-servers.roll-back': ['POST', '/admin/migration-servers/{id}/actions/roll-back', false],
  'import-servers.roll-back-preview': ['GET', '/admin/migration-servers/{id}/roll-back', false],
  'imports.access': ['GET', '/admin/migrations/{id}/access', false],
  'imports.add-keys': ['POST', '/admin/migrations/{id}/actions/add-keys', false],
  'imports.announce': ['POST', '/admin/migrations/{id}/messages/actions/announce', false],
  'imports.apply-to-hypervisors': ['POST', '/admin/migrations/{id}/mapping/actions/apply-to-hypervisors', false],
  'imports.apply-to-owners': ['POST', '/admin/migrations/{id}/mapping/actions/apply-to-owners', false],
  'imports.apply-to-packages': ['POST', '/admin/migrations/{id}/mapping/actions/apply-to-packages', false],
  'imports.apply-to-ranges': ['POST', '/admin/migrations/{id}/mapping/actions/apply-to-ranges', false],
  'imports.cancel': ['POST', '/admin/migrations/{id}/actions/cancel', false],
  'imports.change-limits': ['PATCH', '/admin/migrations/{id}/limits', false],
  'imports.change-mapping': ['PATCH', '/admin/migrations/{id}/mapping', true],
  'imports.changes': ['GET', '/admin/migrations/{id}/changes', false],
  'imports.check-access': ['POST', '/admin/migrations/{id}/actions/check-access', false],
  'imports.check-all': ['POST', '/admin/migrations/{id}/actions/check-all', false],
  'imports.clean-up': ['POST', '/admin/migrations/{id}/actions/clean-up', false],
  'imports.clean-ups': ['GET', '/admin/migrations/{id}/clean-up', false],
  'imports.continue': ['POST', '/admin/migrations/{id}/actions/continue', false],
  'imports.create': ['POST', '/admin/migrations', true],
  'imports.discover': ['POST', '/admin/migrations/{id}/actions/discover', false],
  'imports.dry-run': ['POST', '/admin/migrations/{id}/actions/dry-run', false],
  'imports.export-dry-run': ['GET', '/admin/migrations/{id}/dry-run.csv', false],
  'imports.export-mapping': ['GET', '/admin/migrations/{id}/mapping.csv', false],
  'imports.export-report': ['GET', '/admin/migrations/{id}/report.csv', false],
  'imports.finish': ['POST', '/admin/migrations/{id}/actions/finish', false],
  'imports.finish-preview': ['GET', '/admin/migrations/{id}/finish', false],
  'imports.fleet': ['GET', '/admin/migrations/{id}/fleet', false],
  'imports.get': ['GET', '/admin/migrations/{id}', false],
  'imports.get-dry-run': ['GET', '/admin/migrations/{id}/dry-run', false],
  'imports.hypervisors': ['GET', '/admin/migrations/{id}/mapping/hypervisors', false],
  'imports.invite-owners': ['POST', '/admin/migrations/{id}/actions/invite-owners', false],
  'imports.leave-out': ['POST', '/admin/migrations/{id}/mapping/actions/leave-out', false],
  'imports.list': ['GET', '/admin/migrations', false],
  'imports.list-moves': ['GET', '/admin/migrations/{id}/moves', false],
  'imports.log': ['GET', '/admin/migrations/{id}/log', false],
  'imports.mapping': ['GET', '/admin/migrations/{id}/mapping', false],
  'imports.messages': ['GET', '/admin/migrations/{id}/messages', false],
  'imports.owners': ['GET', '/admin/migrations/{id}/mapping/owners', false],
  'imports.packages': ['GET', '/admin/migrations/{id}/mapping/packages', false],
  'imports.panels': ['GET', '/admin/migration-panels', false],
  'imports.pause': ['POST', '/admin/migrations/{id}/actions/pause', false],
  'imports.plan': ['GET', '/admin/migrations/{id}/plan', false],
  'imports.progress': ['GET', '/admin/migrations/{id}/progress', false],
  'imports.ranges': ['GET', '/admin/migrations/{id}/mapping/ranges', false],
  'imports.report': ['GET', '/admin/migrations/{id}/report', false],
  'imports.script-blesta': ['GET', '/admin/migrations/{id}/report/scripts/blesta', false],
  'imports.script-fossbilling': ['GET', '/admin/migrations/{id}/report/scripts/fossbilling', false],
  'imports.script-paymenter': ['GET', '/admin/migrations/{id}/report/scripts/paymenter', false],
  'imports.script-whmcs': ['GET', '/admin/migrations/{id}/report/scripts/whmcs', false],
  'imports.server': ['GET', '/admin/migration-servers/{id}', false],
  'imports.servers': ['GET', '/admin/migrations/{id}/servers', false],
  'imports.set-credentials': ['POST', '/admin/migrations/{id}/actions/set-credentials', false],
  'imports.set-messages': ['PATCH', '/admin/migrations/{id}/messages', false],
  'imports.start': ['POST', '/admin/migrations/{id}/actions/start', false],
  'imports.stop-after': ['POST', '/admin/migrations/{id}/actions/stop-after', false],
  'imports.test-message': ['POST', '/admin/migrations/{id}/messages/actions/test', false],
  'imports.trust': ['POST', '/admin/migrations/{id}/actions/trust', false],
  'imports.update': ['PATCH', '/admin/migrations/{id}', false],
  'imports.upload-mapping': ['POST', '/admin/migrations/{id}/mapping/actions/upload', false],
  'imports.verification': ['GET', '/admin/migrations/{id}/verification', false],
  'imports.verified': ['GET', '/admin/migrations/{id}/verification/servers', false],
  'isos.add': ['POST', '/isos', true],
  'isos.list': ['GET', '/isos', false],
  'isos.remove': ['DELETE', '/isos/{id}', false],
  'jobs.cancel': ['POST', '/jobs/{jobId}/actions/cancel', false],
  'jobs.get': ['GET', '/jobs/{jobId}', false],
  'jobs.list': ['GET', '/jobs', false],
  'jobs.log': ['GET', '/jobs/{jobId}/log', false],
  'locations.allow-moves': ['PUT', '/admin/node-groups/{id}/moves', false],
  'locations.create': ['POST', '/admin/node-groups', false],
  'locations.get': ['GET', '/admin/node-groups/{id}', false],
  'locations.list': ['GET', '/admin/node-groups', false],
  'locations.update': ['PATCH', '/admin/node-groups/{id}', false],
  'mail.configure': ['PUT', '/admin/settings/mail', false],
  'mail.get': ['GET', '/admin/settings/mail', false],
  'mail.test': ['POST', '/admin/settings/mail/test', false],
  'messages.cancel': ['POST', '/admin/messages/{id}/actions/cancel', false],
  'messages.change': ['PATCH', '/admin/messages/{id}', false],
  'messages.create': ['POST', '/admin/messages', true],
  'messages.get': ['GET', '/admin/messages/{id}', false],
  'messages.list': ['GET', '/admin/messages', false],
  'messages.preview': ['GET', '/admin/messages/{id}/preview', false],
  'messages.recipients': ['GET', '/admin/messages/{id}/recipients', false],
  'messages.remove': ['DELETE', '/admin/messages/{id}', false],
  'messages.send': ['POST', '/admin/messages/{id}/actions/send', true],
  'messages.test': ['POST', '/admin/messages/{id}/actions/test', false],
  'messages.unsubscribe': ['POST', '/unsubscribe', false],
  'monitoring.metrics': ['GET', '/metrics', false],
  'networks.attach': ['POST', '/networks/{id}/servers', true],
  'networks.create': ['POST', '/customers/{id}/networks', true],
  'networks.detach': ['DELETE', '/networks/{id}/servers/{serverId}', true],
  'networks.get': ['GET', '/networks/{id}', false],
  'networks.list': ['GET', '/networks', false],
  'networks.remove': ['DELETE', '/networks/{id}', false],
  'networks.update': ['PATCH', '/networks/{id}', false],
  'nodes.announce-maintenance': ['POST', '/admin/nodes/{id}/actions/announce-maintenance', true],
  'nodes.card-metrics': ['GET', '/admin/nodes/{id}/card-metrics', false],
  'nodes.choose-in-drain-plan': ['PUT', '/admin/nodes/{id}/drain-plan/servers/{serverId}', false],
  'nodes.declare-lost': ['POST', '/admin/nodes/{id}/actions/declare-lost', false],
  'nodes.drain-plan': ['GET', '/admin/nodes/{id}/drain-plan', false],
  'nodes.drain-plan-export': ['GET', '/admin/nodes/{id}/drain-plan.csv', false],
  'nodes.end-maintenance': ['POST', '/admin/nodes/{id}/actions/end-maintenance', true],
  'nodes.enroll': ['POST', '/admin/node-enrollments', false],
  'nodes.enrollment': ['GET', '/admin/node-enrollments/{id}', false],
  'nodes.forget-drain-choices': ['DELETE', '/admin/nodes/{id}/drain-plan/servers', false],
  'nodes.get': ['GET', '/admin/nodes/{id}', false],
  'nodes.list': ['GET', '/admin/nodes', false],
  'nodes.maintenance': ['GET', '/admin/nodes/{id}/maintenance', false],
  'nodes.maintenance-notice': ['GET', '/admin/nodes/{id}/maintenance-notice', false],
  'nodes.metrics': ['GET', '/admin/nodes/{id}/metrics', false],
  'nodes.remove': ['DELETE', '/admin/nodes/{id}', false],
  'nodes.remove-with-workloads': ['POST', '/admin/nodes/{id}/actions/remove-with-workloads', false],
  'nodes.renew-enrollment': ['POST', '/admin/nodes/{id}/actions/renew-enrollment', false],
  'nodes.return-plan': ['GET', '/admin/nodes/{id}/return-plan', false],
  'nodes.revoke-credential': ['POST', '/admin/nodes/{id}/actions/revoke-credential', false],
  'nodes.schedule-drain': ['POST', '/admin/nodes/{id}/actions/schedule-drain', false],
  'nodes.stop-awaiting': ['POST', '/admin/nodes/{id}/actions/stop-awaiting', false],
  'nodes.unschedule-drain': ['DELETE', '/admin/nodes/{id}/scheduled-drain', false],
  'nodes.update': ['PATCH', '/admin/nodes/{id}', false],
  'notices.choices': ['GET', '/account/notice-choices', false],
  'notices.choose': ['PUT', '/account/notice-choices', false],
  'notices.choose-locations': ['PUT', '/account/notice-locations', false],
  'notices.list': ['GET', '/notices', false],
  'notices.read': ['POST', '/notices/actions/read', false],
  'outages.recipients': ['GET', '/admin/outage-recipients', false],
  'overview.get': ['GET', '/admin/overview', false],
  'overview.navigation-marks': ['GET', '/admin/navigation-marks', false],
  'overview.own': ['GET', '/overview', false],
  'own-images.create': ['POST', '/customers/{id}/images', false],
  'own-images.list': ['GET', '/customers/{id}/images', false],
  'own-images.remove': ['DELETE', '/images/{id}', false],
  'own-images.update': ['PATCH', '/images/{id}', false],
  'packages.create': ['POST', '/admin/packages', false],
  'packages.list': ['GET', '/admin/packages', false],
  'packages.update': ['PATCH', '/admin/packages/{id}', false],
  'passkeys.begin': ['POST', '/account/passkeys/actions/begin', false],
  'passkeys.create': ['POST', '/account/passkeys', false],
  'passkeys.remove': ['DELETE', '/passkeys/{id}', false],
  'passkeys.rename': ['PATCH', '/passkeys/{id}', false],
  'password-resets.create': ['POST', '/password-resets', false],
  'passwords.set': ['POST', '/passwords', false],
  'placement-groups.add-instance': ['POST', '/placement-groups/{id}/gpu-instances', false],
  'placement-groups.add-server': ['POST', '/placement-groups/{id}/servers', false],
  'placement-groups.create': ['POST', '/customers/{id}/placement-groups', true],
  'placement-groups.get': ['GET', '/placement-groups/{id}', false],
  'placement-groups.list': ['GET', '/placement-groups', false],
  'placement-groups.mend': ['POST', '/placement-groups/{id}/actions/mend', false],
  'placement-groups.remove': ['DELETE', '/placement-groups/{id}', false],
  'placement-groups.take-out-instance': ['DELETE', '/placement-groups/{id}/gpu-instances/{instanceId}', false],
  'placement-groups.take-out-server': ['DELETE', '/placement-groups/{id}/servers/{serverId}', false],
  'placement-groups.update': ['PATCH', '/placement-groups/{id}', false],
  'pools.addresses': ['GET', '/admin/ip-pools/{id}/addresses', false],
  'pools.attach': ['PUT', '/admin/ip-pools/{id}/nodes', false],
  'pools.create': ['POST', '/admin/ip-pools', false],
  'pools.end-rest': ['POST', '/admin/ip-addresses/{id}/actions/end-rest', false],
  'pools.get': ['GET', '/admin/ip-pools/{id}', false],
  'pools.history': ['GET', '/admin/ip-pools/{id}/history', false],
  'pools.list': ['GET', '/admin/ip-pools', false],
  'pools.nodes': ['GET', '/admin/ip-pools/{id}/nodes', false],
  'pools.remove': ['DELETE', '/admin/ip-pools/{id}', false],
  'pools.reserve': ['PATCH', '/admin/ip-addresses/{id}', false],
  'pools.retire-address': ['POST', '/admin/ip-addresses/{id}/actions/retire', false],
  'pools.set-quarantine': ['PUT', '/admin/ip-pools/{id}/quarantine', false],
  'pools.set-vlan': ['PUT', '/admin/ip-pools/{id}/vlan', false],
  'pools.unretire-address': ['POST', '/admin/ip-addresses/{id}/actions/unretire', false],
  'recovery-codes.create': ['POST', '/account/recovery-codes', false],
  'replica.get': ['GET', '/admin/replica', false],
  'reseller-branding.get': ['GET', '/reseller/branding', false],
  'reseller-branding.remove-logo': ['DELETE', '/reseller/branding/logo', false],
  'reseller-branding.set': ['PUT', '/reseller/branding', false],
  'reseller-branding.set-logo': ['PUT', '/reseller/branding/logo', false],
  'reseller.account': ['GET', '/reseller/account', false],
  'reseller.create-customer': ['POST', '/reseller/customers', true],
  'reseller.create-server': ['POST', '/reseller/servers', true],
  'reseller.customers': ['GET', '/reseller/customers', false],
  'reseller.export-customers': ['GET', '/reseller/customers.csv', false],
  'resellers.create': ['POST', '/admin/resellers', true],
  'resellers.get': ['GET', '/resellers/{id}', false],
  'resellers.list': ['GET', '/admin/resellers', false],
  'resellers.suspend': ['POST', '/resellers/{id}/actions/suspend', false],
  'resellers.unsuspend': ['POST', '/resellers/{id}/actions/unsuspend', false],
  'resellers.update': ['PATCH', '/resellers/{id}', false],
  'reverse-dns.list': ['GET', '/servers/{id}/reverse-dns', false],
  'reverse-dns.set': ['PUT', '/servers/{id}/reverse-dns', false],
  'reverse-dns.set-unconfirmed': ['PUT', '/admin/servers/{id}/reverse-dns', false],
  'reverse-dns.settings': ['GET', '/admin/settings/reverse-dns', false],
  'reverse-dns.test': ['POST', '/admin/settings/reverse-dns/test', false],
  'reverse-dns.use-none': ['DELETE', '/admin/settings/reverse-dns', false],
  'reverse-dns.use-powerdns': ['PUT', '/admin/settings/reverse-dns/powerdns', false],
  'reverse-dns.use-rfc2136': ['PUT', '/admin/settings/reverse-dns/rfc2136', false],
  'roles.create': ['POST', '/admin/roles', false],
  'roles.get': ['GET', '/admin/roles/{id}', false],
  'roles.list': ['GET', '/admin/roles', false],
  'roles.remove': ['DELETE', '/admin/roles/{id}', false],
  'roles.tokens': ['GET', '/admin/roles/{id}/tokens', false],
  'roles.update': ['PATCH', '/admin/roles/{id}', false],
  'roll-outs.continue': ['POST', '/admin/roll-outs/{id}/actions/continue', false],
  'roll-outs.get': ['GET', '/admin/roll-outs/{id}', false],
  'roll-outs.leave-out': ['POST', '/admin/roll-outs/{id}/actions/leave-out', false],
  'roll-outs.list': ['GET', '/admin/roll-outs', false],
  'roll-outs.pause': ['POST', '/admin/roll-outs/{id}/actions/pause', false],
  'roll-outs.retry': ['POST', '/admin/roll-outs/{id}/actions/retry', false],
  'roll-outs.start': ['POST', '/admin/roll-outs', true],
  'roll-outs.stop': ['POST', '/admin/roll-outs/{id}/actions/stop', false],
  'rolling.cancel': ['POST', '/admin/rolling-maintenance/{id}/actions/cancel', false],
  'rolling.confirm': ['POST', '/admin/rolling-maintenance/{id}/actions/confirm', false],
  'rolling.get': ['GET', '/admin/rolling-maintenance/{id}', false],
  'rolling.list': ['GET', '/admin/rolling-maintenance', false],
  'rolling.resume': ['POST', '/admin/rolling-maintenance/{id}/actions/resume', false],
  'rolling.skip': ['POST', '/admin/rolling-maintenance/{id}/actions/skip', false],
  'rolling.start': ['POST', '/admin/rolling-maintenance', true],
  'saved-filters.create': ['POST', '/account/saved-filters', false],
  'saved-filters.list': ['GET', '/account/saved-filters', false],
  'saved-filters.remove': ['DELETE', '/account/saved-filters/{id}', false],
  'scripts.create': ['POST', '/customers/{id}/scripts', false],
  'scripts.get': ['GET', '/scripts/{id}', false],
  'scripts.list': ['GET', '/customers/{id}/scripts', false],
  'scripts.remove': ['DELETE', '/scripts/{id}', false],
  'scripts.update': ['PATCH', '/scripts/{id}', false],
  'search.find': ['GET', '/search', false],
  'second-factor.get': ['GET', '/account/second-factor', false],
  'servers.activity': ['GET', '/servers/{id}/activity', false],
  'servers.add-address': ['POST', '/servers/{id}/ips', true],
  'servers.add-bandwidth': ['POST', '/servers/{id}/bandwidth', true],
  'servers.add-firewall-rule': ['POST', '/servers/{id}/firewall/rules', true],
  'servers.address-change': ['GET', '/servers/{id}/address-change', false],
  'servers.addresses': ['GET', '/servers/{id}/ips', false],
  'servers.adopt': ['POST', '/admin/servers/{id}/actions/adopt', false],
  'servers.allow-services': ['POST', '/servers/{id}/firewall/actions/allow-services', true],
  'servers.bandwidth': ['GET', '/servers/{id}/bandwidth', false],
  'servers.boot-order': ['PUT', '/servers/{id}/boot-order', true],
  'servers.cancel-relocation': ['POST', '/servers/{id}/actions/cancel-relocation', false],
  'servers.change-firewall': ['PATCH', '/servers/{id}/firewall', true],
  'servers.change-firewall-rule': ['PUT', '/servers/{id}/firewall/rules/{ruleId}', false],
  'servers.change-owner': ['POST', '/servers/{id}/actions/change-owner', false],
  'servers.change-owner-many': ['POST', '/admin/servers/actions/change-owner', true],
  'servers.change-package': ['POST', '/servers/{id}/actions/change-package', true],
  'servers.change-primary-address': ['POST', '/servers/{id}/actions/change-primary-address', true],
  'servers.count-firewall': ['POST', '/servers/{id}/firewall/actions/count', true],
  'servers.create': ['POST', '/admin/servers', true],
  'servers.detect-os': ['POST', '/servers/{id}/actions/detect-os', false],
  'servers.elsewhere': ['GET', '/admin/servers/{id}/elsewhere', false],
  'servers.exit-rescue': ['POST', '/servers/{id}/actions/rescue/exit', true],
  'servers.export': ['GET', '/servers.csv', false],
  'servers.export-all': ['GET', '/admin/servers.csv', false],
  'servers.file-systems': ['GET', '/servers/{id}/file-systems', false],
  'servers.firewall': ['GET', '/servers/{id}/firewall', false],
  'servers.get': ['GET', '/servers/{id}', false],
  'servers.hardware': ['GET', '/servers/{id}/hardware', false],
  'servers.installation-check': ['GET', '/servers/{id}/installation-check', false],
  'servers.label': ['POST', '/servers/{id}/labels', false],
  'servers.label-many': ['POST', '/admin/servers/actions/label', true],
  'servers.list': ['GET', '/servers', false],
  'servers.list-all': ['GET', '/admin/servers', false],
  'servers.metrics': ['GET', '/servers/{id}/metrics', false],
  'servers.move': ['POST', '/admin/servers/{id}/actions/move', true],
  'servers.move-options': ['GET', '/admin/servers/{id}/move-options', false],
  'servers.plan-many': ['GET', '/admin/servers/bulk-plan', false],
  'servers.power': ['POST', '/servers/{id}/actions/power', true],
  'servers.power-many': ['POST', '/admin/servers/actions/power', true],
  'servers.primary-address-options': ['GET', '/servers/{id}/primary-address-options', false],
  'servers.protection': ['PUT', '/servers/{id}/protection', false],
  'servers.reinstall': ['POST', '/servers/{id}/actions/reinstall', true],
  'servers.reinstall-options': ['GET', '/servers/{id}/reinstall-options', false],
  'servers.relocate': ['POST', '/servers/{id}/actions/relocate', true],
  'servers.relocation-options': ['GET', '/servers/{id}/relocations', false],
  'servers.remove-address': ['DELETE', '/servers/{id}/ips/{addressId}', true],
  'servers.remove-firewall-rule': ['DELETE', '/servers/{id}/firewall/rules/{ruleId}', false],
  'servers.rename': ['PATCH', '/servers/{id}/name', false],
  'servers.rescue': ['POST', '/servers/{id}/actions/rescue', true],
  'servers.rescue-options': ['GET', '/servers/{id}/rescue-options', false],
  'servers.reset-password': ['POST', '/servers/{id}/actions/reset-password', true],
  'servers.restart-policy': ['PUT', '/servers/{id}/restart-policy', true],
  'servers.set-billing-service': ['PATCH', '/servers/{id}/billing', false],
  'servers.set-iso': ['PUT', '/servers/{id}/iso', true],
  'servers.setup': ['POST', '/servers/{id}/actions/setup', true],
  'servers.smtp': ['PUT', '/servers/{id}/smtp', true],
  'servers.speed': ['PATCH', '/servers/{id}/speed', true],
  'servers.startup-script': ['GET', '/servers/{id}/startup-script', false],
  'servers.suspend': ['POST', '/servers/{id}/actions/suspend', true],
  'servers.suspend-many': ['POST', '/admin/servers/actions/suspend', true],
  'servers.swap-primary-addresses': ['POST', '/servers/{id}/actions/swap-primary-addresses', true],
  'servers.terminate': ['DELETE', '/servers/{id}', true],
  'servers.timeline': ['GET', '/servers/{id}/timeline', false],
  'servers.undelete': ['POST', '/servers/{id}/actions/undelete', true],
  'servers.unsuspend': ['POST', '/servers/{id}/actions/unsuspend', true],
  'servers.unsuspend-many': ['POST', '/admin/servers/actions/unsuspend', true],
  'sessions.begin-with-provider': ['POST', '/sessions/provider', false],
  'sessions.challenge': ['GET', '/sessions/second-factor', false],
  'sessions.confirm': ['POST', '/sessions/current/confirm', false],
  'sessions.confirm-passkey': ['POST', '/sessions/current/confirm/passkey', false],
  'sessions.create': ['POST', '/sessions', false],
  'sessions.end': ['DELETE', '/sessions/current', false],
  'sessions.end-one': ['DELETE', '/account/sessions/{id}', false],
  'sessions.end-others': ['DELETE', '/account/sessions', false],
  'sessions.from-provider': ['POST', '/sessions/from-provider', false],
  'sessions.list': ['GET', '/account/sessions', false],
  'sessions.passkey': ['POST', '/sessions/passkey', false],
  'sessions.passkey-begin': ['POST', '/sessions/passkey/actions/begin', false],
  'sessions.provider': ['GET', '/sessions/provider', false],
  'sessions.second-factor': ['POST', '/sessions/second-factor', false],
  'sessions.second-factor-passkey': ['POST', '/sessions/second-factor/passkey', false],
  'settings.list': ['GET', '/admin/settings/values', false],
  'settings.set': ['PUT', '/admin/settings/values', false],
  'setup.finish': ['POST', '/setup', false],
  'sign-in-links.create': ['POST', '/customers/{id}/sign-in-links', false],
  'sign-in-links.create-for-server': ['POST', '/servers/{id}/sign-in-links', false],
  'sign-in-links.use': ['POST', '/sessions/from-link', false],
  'sign-in-provider.get': ['GET', '/admin/settings/sign-in', false],
  'sign-in-provider.remove': ['DELETE', '/admin/settings/sign-in', false],
  'sign-in-provider.set': ['PUT', '/admin/settings/sign-in', false],
  'snapshots.create': ['POST', '/servers/{id}/snapshots', true],
  'snapshots.list': ['GET', '/servers/{id}/snapshots', false],
  'snapshots.remove': ['DELETE', '/servers/{id}/snapshots/{snapshotId}', true],
  'snapshots.restore': ['POST', '/servers/{id}/snapshots/{snapshotId}/actions/restore', true],
  'snapshots.update': ['PATCH', '/servers/{id}/snapshots/{snapshotId}', false],
  'source-removal.choose': ['POST', '/admin/migrations/{id}/source-removal', false],
  'source-removal.export': ['GET', '/admin/migrations/{id}/source-removal.csv', false],
  'source-removal.get': ['GET', '/admin/migrations/{id}/source-removal', false],
  'source-removal.restore': ['POST', '/admin/migrations/{id}/source-removal/restore', false],
  'source-removal.run': ['POST', '/admin/migrations/{id}/source-removal/run', false],
  'ssh-keys.create': ['POST', '/customers/{id}/ssh-keys', false],
  'ssh-keys.list': ['GET', '/customers/{id}/ssh-keys', false],
  'ssh-keys.remove': ['DELETE', '/ssh-keys/{id}', false],
  'ssh-keys.update': ['PATCH', '/ssh-keys/{id}', false],
  'staff.create': ['POST', '/admin/staff', false],
  'staff.disable': ['POST', '/admin/staff/{id}/actions/disable', false],
  'staff.enable': ['POST', '/admin/staff/{id}/actions/enable', false],
  'staff.list': ['GET', '/admin/staff', false],
  'staff.reset-second-factor': ['POST', '/admin/staff/{id}/actions/reset-second-factor', false],
  'staff.update': ['PATCH', '/admin/staff/{id}', false],
  'status.get': ['GET', '/status', false],
  'stock.get': ['GET', '/stock', false],
  'stock.of-size': ['GET', '/stock/of-size', false],
  'storage-pools.fill': ['GET', '/admin/nodes/{id}/storage-pools/fill', false],
  'storage-pools.list': ['GET', '/admin/nodes/{id}/storage-pools', false],
  'storage-pools.update': ['PATCH', '/admin/storage-pools/{id}', false],
  'support.close': ['DELETE', '/support-session', false],
  'support.open': ['POST', '/customers/{id}/support-session', false],
  'team.accept': ['POST', '/team/accept', false],
  'team.invitation': ['GET', '/team/invitation', false],
  'team.invite': ['POST', '/team', false],
  'team.join': ['POST', '/team/join', false],
  'team.leave': ['DELETE', '/team/memberships/{id}', false],
  'team.list': ['GET', '/team', false],
  'team.memberships': ['GET', '/team/memberships', false],
  'team.remove': ['DELETE', '/team/{id}', false],
  'team.resend': ['POST', '/team/{id}/actions/resend', false],
  'team.update': ['PATCH', '/team/{id}', false],
  'tokens.create': ['POST', '/account/tokens', false],
  'tokens.list': ['GET', '/account/tokens', false],
  'tokens.revoke': ['DELETE', '/tokens/{id}', false],
  'tokens.rotate': ['POST', '/tokens/{id}/actions/rotate', false],
  'totp.begin': ['POST', '/account/totp', false],
  'totp.confirm': ['POST', '/account/totp/actions/confirm', false],
  'totp.remove': ['DELETE', '/account/totp', false],
  'traffic.heaviest': ['GET', '/admin/traffic/heaviest', false],
  'transfers.cancel': ['POST', '/admin/transfers/{id}/actions/cancel', false],
  'transfers.export': ['GET', '/admin/transfers.csv', false],
  'transfers.figures': ['GET', '/admin/transfer-figures', false],
  'transfers.get': ['GET', '/admin/transfers/{id}', false],
  'transfers.list': ['GET', '/admin/transfers', false],
  'transfers.progress': ['GET', '/admin/transfers/{id}/progress', false],
  'transfers.update': ['PATCH', '/admin/transfers/{id}', false],
  'updates.check': ['POST', '/admin/updates/actions/check', false],
  'updates.download': ['POST', '/admin/updates/actions/download', false],
  'updates.get': ['GET', '/admin/updates', false],
  'updates.look': ['POST', '/admin/updates/actions/look', false],
  'updates.set-source': ['PUT', '/admin/updates/source', false],
  'updates.start': ['POST', '/admin/updates/actions/start', false],
  'updates.upload': ['POST', '/admin/updates/actions/upload', false],
  'updates.withdraw': ['POST', '/admin/updates/actions/withdraw', false],
  'usage.accounts': ['GET', '/reports/usage/accounts', false],
  'usage.addresses': ['GET', '/reports/usage/addresses', false],
  'usage.addresses-export': ['GET', '/reports/usage/addresses.csv', false],
  'usage.export': ['GET', '/reports/usage.csv', false],
  'usage.gpu-export': ['GET', '/reports/gpu-usage.csv', false],
  'usage.gpu-instances': ['GET', '/admin/gpu-usage', false],
  'usage.gpu-report': ['GET', '/reports/gpu-usage', false],
  'usage.intervals': ['GET', '/reports/usage/intervals', false],
  'usage.of-server': ['GET', '/servers/{id}/usage', false],
  'usage.reconcile': ['POST', '/usage/reconciliation', false],
  'usage.report': ['GET', '/reports/usage', false],
  'usage.volumes': ['GET', '/reports/usage/volumes', false],
  'volumes.attach': ['POST', '/volumes/{id}/actions/attach', true],
  'volumes.create': ['POST', '/servers/{id}/volumes', true],
  'volumes.delete': ['DELETE', '/volumes/{id}', true],
  'volumes.detach': ['POST', '/volumes/{id}/actions/detach', true],
  'volumes.get': ['GET', '/volumes/{id}', false],
  'volumes.grow': ['POST', '/volumes/{id}/actions/grow', true],
  'volumes.list': ['GET', '/volumes', false],
  'volumes.of-server': ['GET', '/servers/{id}/volumes', false],
  'volumes.update': ['PATCH', '/volumes/{id}', false],
  'weakenings.confirm': ['POST', '/admin/weakenings/{id}/actions/confirm', false],
  'weakenings.list': ['GET', '/admin/weakenings', false],
  'weakenings.take-back': ['DELETE', '/admin/weakenings/{id}', false],
  'webhooks.create': ['POST', '/webhooks', false],
  'webhooks.deliveries': ['GET', '/webhooks/{id}/deliveries', false],
  'webhooks.delivery': ['GET', '/webhook-deliveries/{id}', false],
  'webhooks.get': ['GET', '/webhooks/{id}', false],
  'webhooks.list': ['GET', '/webhooks', false],
  'webhooks.pause': ['POST', '/webhooks/{id}/actions/pause', false],
  'webhooks.queue': ['GET', '/webhook-queue', false],
  'webhooks.redeliver': ['POST', '/webhook-deliveries/{id}/actions/redeliver', false],
  'webhooks.remove': ['DELETE', '/webhooks/{id}', false],
  'webhooks.resume': ['POST', '/webhooks/{id}/actions/resume', false],
  'webhooks.rotate-secret': ['POST', '/webhooks/{id}/actions/rotate-secret', false],
  'webhooks.test': ['POST', '/webhooks/{id}/actions/test', false],
  'webhooks.update': ['PATCH', '/webhooks/{id}', false],
}

