-- What a server had right after its installation, as its node saw it: JSON.
ALTER TABLE server_guests ADD COLUMN seen TEXT;
