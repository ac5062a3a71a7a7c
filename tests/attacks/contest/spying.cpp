// Looks for the scorer, other inputs, keys and what an earlier case left; answers nothing if it
// finds any, so that a valid answer says that there was nothing to find.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

extern char **environ;

static const std::string TOKEN = std::string("TOKEN-") + "OF-THE-ATTACK-TEST";
static const std::string MARK = std::string("evoduet-attack-") + "persisted";
static const char *PLACES[] = {"/tmp", "/var/tmp", "/dev/shm", "/run", "/root", "/home", "/work",
                               "/srv", "/opt", "/mnt", ".", "..", "/"};

static std::vector<std::string> names(const std::string &folder) {
    std::vector<std::string> found;
    if (DIR *open = opendir(folder.c_str())) {
        while (dirent *entry = readdir(open))
            found.push_back(entry->d_name);
        closedir(open);
    }
    return found;
}

static bool holds_token(const std::string &path) {
    int file = open(path.c_str(), O_RDONLY | O_NONBLOCK);
    if (file < 0)
        return false;
    static char buffer[1 << 16];
    ssize_t size = read(file, buffer, sizeof buffer);
    close(file);
    return size > 0 && memmem(buffer, size, TOKEN.data(), TOKEN.size()) != nullptr;
}

static bool found_something(const char *self) {
    for (char **entry = environ; *entry; entry++)
        if (strstr(*entry, TOKEN.c_str()))
            return true;
    std::vector<std::string> folders(PLACES, PLACES + sizeof PLACES / sizeof *PLACES);
    std::string path = self;
    for (size_t cut; (cut = path.rfind('/')) != std::string::npos && cut > 0;)
        folders.push_back(path = path.substr(0, cut));
    for (const std::string &folder : folders)
        for (const std::string &name : names(folder)) {
            if (name == "task.toml" || name == "evaluator.py" || name == "input_hashes.json" ||
                name == MARK || holds_token(folder + "/" + name))
                return true;
        }
    for (const std::string &name : names("/proc"))
        if (atoi(name.c_str()) && holds_token("/proc/" + name + "/environ"))
            return true;
    // Beyond the standard three nothing may lead anywhere: no file, pipe, socket or folder.
    for (int descriptor = 3; descriptor < 256; descriptor++) {
        char target[256] = "";
        std::string link = "/proc/self/fd/" + std::to_string(descriptor);
        if (readlink(link.c_str(), target, sizeof target - 1) > 0 &&
            (strchr(target, '/') || strstr(target, "pipe:") || strstr(target, "socket:")))
            return true;
    }
    return false;
}

static void leave(const char *self) {
    std::vector<std::string> folders(PLACES, PLACES + sizeof PLACES / sizeof *PLACES);
    std::string path = self;
    folders.push_back(path.substr(0, path.rfind('/')));
    for (const std::string &folder : folders)
        if (FILE *file = fopen((folder + "/" + MARK).c_str(), "w"))
            fclose(file);
}

int main(int, char **argv) {
    if (found_something(argv[0])) {
        std::puts("found something");
        return 0;
    }
    leave(argv[0]);
    std::puts("0 0");
    for (int i = 1; i < 500; i++)
        std::puts("-1");
}
