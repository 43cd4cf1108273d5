# programs/ - recipes of real programs (programs/README.md). They are installed as they are, each in a folder.
programs_files = $(srcdir)/programs/*/recipe.yaml $(srcdir)/programs/*/Driver.java $(srcdir)/programs/*/build.sh
EXTRA_DIST += programs
.PHONY: install-programs uninstall-programs
install-programs:
	for file in $(programs_files); do \
	  to="$(DESTDIR)$(pkgdatadir)/programs/`basename $$(dirname $$file)`"; \
	  $(MKDIR_P) "$$to" && $(INSTALL_DATA) $$file "$$to" || exit 1; done
uninstall-programs:
	rm -rf "$(DESTDIR)$(pkgdatadir)/programs"
