/** The port on which the Jupyter of an instance listens. */
export const JUPYTER_PORT = 8888

/**
 * The configuration of the image's Jupyter, old and new. As a file, because every user of the instance can read the
 * arguments of a program; a configuration that is named outweighs that of the image, which may want no token.
 */
export function jupyterConfig(token: string): string {
  const settings = [
    "ip = '0.0.0.0'",
    `port = ${JUPYTER_PORT}`,
    'port_retries = 0',
    'open_browser = False',
    'allow_root = True',
    // JSON writes a text as Python reads it, but for characters beyond the first plane.
    `token = ${JSON.stringify(token)}`,
  ]
  const apps = ['ServerApp', 'NotebookApp']
  return [
    '# Written by Berth.',
    'c = get_config()',
    ...apps.flatMap((app) => settings.map((setting) => `c.${app}.${setting}`)),
    `c.IdentityProvider.token = ${JSON.stringify(token)}`,
    '',
  ].join('\n')
}
