// Where things are on a machine that Berth was installed on. Tests hand in their own.
export type Paths = typeof installed

export const installed = {
  /** The program as people call it. */
  program: '/usr/local/bin/berth',
  /** Holds `berth-host`, a second name of the program: it stays until a purge, because guests need it at a boot. */
  library: '/usr/local/lib/berth',
  settings: '/etc/berth',
  logs: '/var/log/berth',
  /** Of the supervisor: its socket, and a file for each service that runs. */
  run: '/run/berth',
  agentState: '/var/lib/berth-agent',
  units: '/etc/systemd/system',
  caddyMain: '/etc/caddy/Caddyfile',
  caddySite: '/etc/caddy/berth.caddyfile',
  authorities: '/etc/ssl/certs/ca-certificates.crt',
}

export const hostProgram = ({ library }: Paths) => `${library}/berth-host`
/** The program of the agent: on a machine that is a controller too, both are updated apart. */
export const agentProgram = ({ library }: Paths) => `${library}/berth-agent`
export const servicesCommand = ({ library }: Paths) => `${library}/services`
export const controllerEnv = ({ settings }: Paths) => `${settings}/controller.env`
export const agentEnv = ({ settings }: Paths) => `${settings}/agent.env`
export const labAuthority = ({ settings }: Paths) => `${settings}/lab-ca.crt`
/** The authority that a node was given with --ca. */
export const controllerAuthority = ({ settings }: Paths) => `${settings}/controller-ca.crt`
/** Is there when the node runs container instances with cards. */
export const gpuMark = ({ settings }: Paths) => `${settings}/gpu`
export const identityFile = ({ agentState }: Paths) => `${agentState}/agent.json`
/** The digest of the token that made or renewed this node. */
export const usedToken = ({ agentState }: Paths) => `${agentState}/used-token.sha256`
