import { feature } from '../../../kernel/feature.ts'
import { downloadBackupFile } from './download-file.ts'
import { listBackupFiles } from './list-files.ts'
import { FileQuestions, fileEndpoints } from './questions.ts'

const errors = {
  backup_file_not_found: {
    status: 404,
    when: 'There is no such partition, directory or file in the backup.',
    remedy: 'List the directory above it.',
  },
  backup_not_browsable: {
    status: 409,
    when: 'The file system cannot be read here or is damaged, or the path is no file or no directory.',
    remedy: 'Have the backup restored to a new server.',
  },
  backup_files_unavailable: {
    status: 409,
    when: 'No node that reaches the backup is connected, its target does not answer, or the node has no time.',
    remedy: 'Try again in a minute.',
  },
} as const

declare module '../../../kernel/register.ts' {
  interface Names {
    'backup files': { errors: typeof errors }
  }
  interface Services {
    fileQuestions: FileQuestions
  }
}

export const backupFilesFeature = feature({
  name: 'backup files',
  errors,
  operations: [listBackupFiles, downloadBackupFile],
  services: () => ({ fileQuestions: new FileQuestions() }),
  sockets: fileEndpoints,
})
