-- The id that Convoke keeps in git's folder, which follows that folder wherever it is moved.
ALTER TABLE projects ADD COLUMN folder_id TEXT;
CREATE INDEX projects_by_folder_id ON projects (folder_id) WHERE folder_id IS NOT NULL;

-- The project that took everything of this one over, so that this one's folder can say where it is.
ALTER TABLE projects ADD COLUMN merged_into TEXT;
