-- How full the disks of a guest are, as its guest agent told it with its system.
ALTER TABLE server_guests ADD COLUMN file_systems TEXT;
